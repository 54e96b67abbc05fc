/**
 * Starts what all test files share: one real PostgreSQL with a migrated template database, and a
 * Kafka broker as soon as one of them asks for it.
 */

import type { TestProject } from 'vitest/node'
import { makeTemplate, type TestServer } from './database-template.js'
import { endKeptServer, stopOrKeep } from './kept-server.js'
import { startTestPostgres } from './servers.js'
import { offerKafka, type KafkaOffer } from './shared-kafka.js'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: TestServer
    kafka: KafkaOffer
  }
}

/** No test here is about losing power, and two cores have better things to wait for than a disk. */
const fastFlags = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off']
/** Several files at once, each with pools, a lock's session and lookers-on. */
const roomFlags = ['-c', 'max_connections=300']

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await endKeptServer()
  const postgres = await startTestPostgres({ postgresFlags: [...fastFlags, ...roomFlags] })
  try {
    const kafka = await offerKafka()
    project.provide('kafka', kafka.offer)
    project.provide('postgres', {
      adminUrl: postgres.url,
      port: postgres.port,
      template: await makeTemplate(postgres.url),
    })
    return async () => {
      await kafka.stop()
      await stopOrKeep(postgres)
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}
