/** The intake on a real broker: nothing lost, nothing skipped, committed only after the database. */

import { randomBytes } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { createTopic, describeWithKafka } from '../support/kafka.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { startTcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { dealCreated } from './intake-fixtures.js'
import { deals, produce, useIntakeBench } from './intake-kafka-fixtures.js'

/** A first group, an outage and its end each take seconds, on a busy machine many. */
vi.setConfig({ testTimeout: 90_000 })

const database = useTestDatabase()
const bench = useIntakeBench(database)

describeWithKafka('the intake', () => {
  it('takes in what was there before it, in several partitions, and parks what it must', async () => {
    const topic = await createTopic({ partitions: 3 })
    const nonsense = { ...dealCreated(), value: Buffer.from('nonsense') }
    await produce(topic, [...deals(30), nonsense, ...deals(30)])
    const intake = await bench.start({ topic })
    await bench.untilReady(60)
    await waitFor('all to be committed', async () => (await bench.committed(topic)) === 61)
    await produce(topic, deals(1))
    await bench.untilReady(61)
    expect(await bench.counts()).toEqual({ ready: 61, chats: 61, events: 61, parked: 1 })
    expect(intake.failure()).toBeUndefined()
  })

  it('does not commit a message whose transaction is open, and a stop ends it whole', async () => {
    const topic = await createTopic()
    const held = dealCreated()
    await produce(topic, [...deals(1), held, ...deals(1)])
    const rival = await Rival.begin(database().adminUrl)
    bench.afterwards(() => rival.rollback().catch(() => undefined))
    await rival.insertChat(held.dealId)
    const intake = await bench.start({ topic })
    await untilBlocked(database(), 'chat-provision-retry consumer')
    expect(await bench.committed(topic)).toBeLessThanOrEqual(1)

    const stopped = intake.stop()
    await rival.rollback()
    await stopped
    expect(await bench.counts()).toMatchObject({ ready: 2, events: 2 })
    expect(await bench.committed(topic)).toBe(2)

    await bench.start({ topic })
    await bench.untilReady(3)
    expect(await bench.counts()).toMatchObject({ ready: 3, chats: 3, events: 3 })
  })

  it('O3: starts while the topic is missing, says so, and begins by itself', async () => {
    const topic = `test.late.${randomBytes(4).toString('hex')}`
    const intake = await bench.start({ topic })
    await waitFor('the report', () => intake.failure()?.includes('UNKNOWN_TOPIC') === true)
    await createTopic({ topic })
    await produce(topic, deals(1))
    await bench.untilReady(1)
    expect(intake.failure()).toBeUndefined()
    expect(intake.said('intake waits for kafka')).toHaveLength(1)
    expect(intake.said('intake flows again')).toHaveLength(1)
  })

  it('commits nothing while the database is away, and goes on after it', async () => {
    const topic = await createTopic({ partitions: 2 })
    const postgres = await startTcpProxy({ target: Number(new URL(database().url).port) })
    bench.afterwards(() => postgres.stop())
    const url = new URL(database().url)
    url.port = String(postgres.port)
    const intake = await bench.start({ topic, url: url.href })
    await produce(topic, deals(5))
    await bench.untilReady(5)

    postgres.cut()
    await produce(topic, deals(5))
    await waitFor('the outage to be noticed', () => intake.failure()?.includes('database'))
    expect(await bench.committed(topic)).toBeLessThanOrEqual(5)
    postgres.resume()
    await bench.untilReady(10)
    await waitFor('all to be committed', async () => (await bench.committed(topic)) === 10)
    expect(await bench.counts()).toEqual({ ready: 10, chats: 10, events: 10, parked: 0 })
    expect(intake.failure()).toBeUndefined()
  })

  it('shares the partitions with a second one, and takes over when that one leaves', async () => {
    const topic = await createTopic({ partitions: 4 })
    await bench.start({ topic })
    await produce(topic, deals(20))
    const second = await bench.start({ topic })
    await waitFor('the second to join', () => second.failure() === undefined)
    await produce(topic, deals(20))
    await bench.untilReady(40)
    await second.stop()
    await produce(topic, deals(20))
    await bench.untilReady(60)
    expect(await bench.counts()).toEqual({ ready: 60, chats: 60, events: 60, parked: 0 })
  })
})
