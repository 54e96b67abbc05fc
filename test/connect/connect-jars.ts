/** Gets Kafka Connect and Debezium's connector by Maven, once per machine and user, as the broker. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder } from '../../src/demo/servers/server-cache.js'
import { startServerProcess } from '../../src/demo/servers/server-process.js'

const kafkaVersion = '4.1.1'
const debeziumVersion = '3.3.1.Final'

/** The folder with the jars of both, for one class path. */
export function fetchConnectJars(): Promise<string> {
  return cachedFolder(`connect-${kafkaVersion}-debezium-${debeziumVersion}`, async (folder) => {
    process.stderr.write('Fetching Kafka Connect and Debezium with Maven, once (66 jars) …\n')
    await writeFile(join(folder, 'pom.xml'), pom)
    const maven = await startServerProcess({
      command: 'mvn',
      args: [
        ...['--batch-mode', 'dependency:copy-dependencies', '-DincludeScope=runtime'],
        `-DoutputDirectory=${folder}`,
      ],
      cwd: folder,
      orphanSignal: 'TERM',
      orphanFolder: folder,
    })
    const ended = await maven.exited
    if (ended !== 'exit code 0') throw new Error(`Maven failed (${ended}):\n${maven.lastLines()}`)
  })
}

/** slf4j-simple, for without a logger a task that fails says nothing. */
const dependencies = [
  ['org.apache.kafka', 'connect-runtime', kafkaVersion],
  ['org.slf4j', 'slf4j-simple', '1.7.36'],
  ['io.debezium', 'debezium-connector-postgres', debeziumVersion],
].map(
  ([group, artifact, version]) => `
    <dependency>
      <groupId>${group ?? ''}</groupId>
      <artifactId>${artifact ?? ''}</artifactId>
      <version>${version ?? ''}</version>
    </dependency>`,
)

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>kafka-connect</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>${dependencies.join('')}
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.6.1</version>
      </plugin>
    </plugins>
  </build>
</project>
`
