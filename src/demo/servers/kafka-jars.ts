/**
 * Gets a Kafka broker's program: its jars by Maven, once per machine and user, run by Java.
 *
 * Maven checks what it downloads and knows a company's mirrors and proxies; an archive of Kafka
 * fetched by hand would know neither.
 */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { localServers } from '../../config/local-servers.js'
import { AppError } from '../../errors.js'
import { cachedFolder, exists, serverCacheFolder } from './server-cache.js'
import { startServerProcess } from './server-process.js'

const run = promisify(execFile)

const defaultVersion = '4.1.1'
/** Kafka 4's brokers need it. */
const oldestJava = 17
/** Long enough to read, short enough to show that something happens. */
const progressIntervalMs = 3_000

export type LocalKafkaTools =
  { readonly available: true } | { readonly available: false; readonly reason: string }

function wantedVersion(): string {
  return localServers().kafkaVersion ?? defaultVersion
}

function folderName(): string {
  return `kafka-${wantedVersion()}`
}

/** Whether a broker can be run here, or why not. */
export async function findLocalKafkaTools(): Promise<LocalKafkaTools> {
  const java = await javaVersion()
  if (java === undefined) return missing(`there is no Java (${oldestJava} or later)`)
  if (java < oldestJava) {
    return missing(`Java is version ${java}, and a Kafka broker needs ${oldestJava} or later`)
  }
  // With the jars at hand Maven has nothing left to do.
  if (await exists(join(serverCacheFolder(), folderName()))) return { available: true }
  if (!(await answers('mvn', ['--version']))) return missing('there is no Maven (mvn)')
  return { available: true }
}

/**
 * The folder with the jars, fetched where they are not there yet.
 *
 * @param log gets a line when a download starts, every few seconds while it goes on, and at its end.
 * @param signal ends a download; what it had fetched is removed.
 * @throws AppError BROKER_UNAVAILABLE where Maven can't get them.
 */
export async function fetchKafkaJars(
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<string> {
  const version = wantedVersion()
  return cachedFolder(folderName(), async (folder) => {
    log(`Fetching Apache Kafka ${version} with Maven, once (46 jars, 43 MB) …`)
    await writeFile(join(folder, 'pom.xml'), pom(version))
    await copyJars(folder, log, signal)
    log(`Apache Kafka ${version} is here.`)
  })
}

async function copyJars(
  folder: string,
  log: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let downloads = 0
  const maven = await startServerProcess({
    command: 'mvn',
    args: ['--batch-mode', 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`],
    cwd: folder,
    orphanSignal: 'TERM',
    orphanFolder: folder,
    onLine: (line) => {
      if (/^(\[INFO\] )?Downloaded/.test(line)) downloads++
    },
  }).catch((cause: unknown) => {
    throw new AppError(
      'BROKER_UNAVAILABLE',
      'The Kafka broker has to be fetched, and there is no Maven (mvn) to do it. Install Maven.',
      { cause },
    )
  })
  const progress = setInterval(() => log(`… ${downloads} files fetched`), progressIntervalMs)
  const stop = (): void => void maven.signal('SIGTERM')
  signal?.addEventListener('abort', stop)
  if (signal?.aborted === true) stop()
  const ended = await maven.exited
  signal?.removeEventListener('abort', stop)
  clearInterval(progress)
  if (ended === 'exit code 0') return
  throw new AppError(
    'BROKER_UNAVAILABLE',
    `Maven could not fetch the Kafka broker (${ended}). Its last lines:\n${maven.lastLines()}`,
  )
}

function missing(reason: string): LocalKafkaTools {
  return { available: false, reason }
}

/** Java writes its version on stderr, `version "17.0.15"`, and before 9 as `"1.8.0_392"`. */
async function javaVersion(): Promise<number | undefined> {
  try {
    const { stderr } = await run('java', ['-version'])
    const found = /version "(?:1\.)?(\d+)/.exec(stderr)
    return found?.[1] === undefined ? undefined : Number(found[1])
  } catch {
    // Not installed, or a stand-in that only says so.
    return undefined
  }
}

async function answers(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

/** slf4j-simple, for without a logger a broker that can't start says nothing at all. */
const pom = (version: string): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>kafka-broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${version}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
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
