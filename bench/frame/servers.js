/**
 * The servers that the benches run on, started when the first one asks: a PostgreSQL with durable
 * commits and a Kafka of one node, or those that the command line names.
 */

import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../dist/demo/servers/embedded-postgres.js'
import { startLocalKafka } from '../../dist/demo/servers/local-kafka.js'
import { createDatabase } from '../../dist/postgres/connect.js'
import { migrateUp } from '../../dist/postgres/migrator.js'

const ignore = () => undefined
/** PostgreSQL's own default, 128 MB, is less than the larger tables here; any hosted server has more. */
const postgresFlags = ['-c', 'shared_buffers=512MB', '-c', 'max_wal_size=4GB']

/** @param given { postgres: URL of a superuser, kafka: [host:port] }, either may be left out */
export function createServers(given) {
  let postgres
  let kafka
  const postgresUrl = async () => {
    postgres ??= given.postgres
      ? { url: given.postgres, stop: ignore }
      : await startEmbeddedPostgres({ postgresFlags })
    return postgres.url
  }
  const brokers = async () => {
    kafka ??= given.kafka
      ? { brokers: given.kafka, stop: ignore }
      : await startLocalKafka({ log: (line) => process.stderr.write(`${line}\n`) })
    return kafka.brokers
  }

  return {
    /** A database of the bench's own, with the tables of the given sets; `drop` removes it. */
    async database(sets) {
      const adminUrl = await postgresUrl()
      const name = `bench_${randomBytes(4).toString('hex')}`
      await oneStatement(adminUrl, `create database ${name}`)
      const url = Object.assign(new globalThis.URL(adminUrl), { pathname: `/${name}` }).href
      const db = createDatabase({
        connectionString: url,
        applicationName: 'bench',
        max: 2,
        onConnectionLost: ignore,
      })
      await migrateUp(db, sets)
      const drop = async () => {
        await db.destroy()
        await oneStatement(adminUrl, `drop database ${name} with (force)`)
      }
      // Takes longer than the product's own connections let a statement take.
      const vacuum = ({ analyze = true } = {}) =>
        oneStatement(url, `vacuum (analyze ${analyze ? 'on' : 'off'})`)
      /** Of one parameter at the most, the database's name. */
      const adminQuery = (text) => oneStatement(adminUrl, text, [name])
      return { url, db, vacuum, adminQuery, drop }
    },

    /** A topic of the bench's own with three partitions, and how many messages it holds. */
    async topic() {
      const name = `bench.${randomBytes(4).toString('hex')}`
      const addresses = await brokers()
      const admin = new Kafka({ brokers: addresses, logLevel: logLevel.NOTHING }).admin()
      await admin.connect()
      await admin.createTopics({
        // Its own wait ends with an error where the broker is slow to know the topic.
        waitForLeaders: false,
        topics: [{ topic: name, numPartitions: 3, replicationFactor: 1 }],
      })
      while (!(await isThere(admin, name))) await delay(50)
      const stored = async () => {
        const offsets = await admin.fetchTopicOffsets(name)
        return offsets.reduce((sum, { high }) => sum + Number(high), 0)
      }
      const drop = async () => {
        await admin.deleteTopics({ topics: [name] })
        await admin.disconnect()
      }
      return { name, brokers: addresses, stored, drop }
    },

    async stop() {
      await kafka?.stop()
      await postgres?.stop()
    },
  }
}

async function isThere(admin, topic) {
  try {
    await admin.fetchTopicOffsets(topic)
    return true
  } catch (error) {
    if (error.retriable === true) return false
    throw error
  }
}

async function oneStatement(url, text, values) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
