/**
 * Which programs the demo and the tests run as their own servers, where that is not left to them: so the
 * same tests hold for other versions. No options of the service.
 */

import { readEnvironment } from './environment.js'

export interface LocalServers {
  /** LOCAL_POSTGRES: an installation's folder, with bin/initdb and bin/postgres; else npm's binaries. */
  readonly postgresFolder: string | undefined
  /** LOCAL_KAFKA: a version on Maven Central, such as 3.9.2; else the one the tests are written for. */
  readonly kafkaVersion: string | undefined
}

export function localServers(): LocalServers {
  const { LOCAL_POSTGRES: postgresFolder, LOCAL_KAFKA: kafkaVersion } = readEnvironment()
  return { postgresFolder, kafkaVersion }
}
