/** The intake while its broker is away, silent, restarted or cut off in the middle. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { startTestKafka, type TestKafka } from '../support/servers.js'
import { createTopic, describeWithKafka } from '../support/kafka.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { dealCreated } from './intake-fixtures.js'
import { deals, produce, useIntakeBench, type TestIntake } from './intake-kafka-fixtures.js'

/** A first group, an outage and its end each take seconds, on a busy machine many. */
vi.setConfig({ testTimeout: 90_000 })

const database = useTestDatabase()
const bench = useIntakeBench(database)

describeWithKafka('the intake and its broker', () => {
  let kafka: TestKafka
  let proxy: TcpProxy
  let topic: string

  beforeAll(async () => {
    kafka = await startTestKafka({
      advertise: async (port) => (proxy = await startTcpProxy({ target: port })).port,
    })
  })
  afterAll(async () => {
    await kafka.stop()
    await proxy.stop()
  })
  beforeEach(async () => {
    topic = await createTopic({ brokers: kafka.brokers, partitions: 2 })
  })
  afterEach(() => proxy.resume())

  const start = (): Promise<TestIntake> => bench.start({ topic, brokers: kafka.brokers })
  const put = (n: number): Promise<void> => produce(topic, deals(n), kafka.brokers)

  async function flowing(): Promise<TestIntake> {
    const intake = await start()
    await put(3)
    await bench.untilReady(3)
    return intake
  }

  it('O3: starts while Kafka is away, says so in one line, and begins when it comes', async () => {
    proxy.cut()
    const intake = await start()
    await waitFor('the report', () => intake.said('intake waits for kafka').length > 0)
    expect(intake.failure()).toBeDefined()
    const refused = proxy.refused()
    await waitFor('another session', () => proxy.refused() > refused + 7)
    expect(intake.said('intake waits for kafka').length).toBeLessThan(3)
    proxy.resume()
    await put(3)
    await bench.untilReady(3)
    expect(intake.failure()).toBeUndefined()
  })

  it('goes on after an outage in the middle, and loses nothing', async () => {
    const intake = await flowing()
    proxy.cut()
    await waitFor('the outage to be noticed', () => intake.failure() !== undefined, {
      timeoutMs: 25_000,
    })
    proxy.resume()
    await put(20)
    await bench.untilReady(23)
    expect(await bench.counts()).toEqual({ ready: 23, chats: 23, events: 23, parked: 0 })
    expect(intake.failure()).toBeUndefined()
  })

  it('O4: a broker that is frozen in the middle harms nothing', async () => {
    const intake = await flowing()
    const held = dealCreated()
    const rival = await Rival.begin(database().adminUrl)
    bench.afterwards(() => rival.rollback().catch(() => undefined))
    await rival.insertChat(held.dealId)
    await produce(topic, [held], kafka.brokers)
    await untilBlocked(database(), 'chat-provision-retry consumer')
    proxy.pauseResponses()
    await rival.rollback()
    await bench.untilReady(4)
    await waitFor('the silence to be noticed', () => intake.failure() !== undefined, {
      timeoutMs: 25_000,
    })
    proxy.dropConnections()
    proxy.resume()
    await put(5)
    await bench.untilReady(9)
    expect(await bench.counts()).toEqual({ ready: 9, chats: 9, events: 9, parked: 0 })
  })

  it.each([
    ['dead', () => proxy.cut()],
    ['silent', () => proxy.pauseResponses()],
  ])('O6: stops in time with a broker that is %s', async (_, harm) => {
    const intake = await flowing()
    harm()
    const from = performance.now()
    await intake.stop()
    expect(performance.now() - from).toBeLessThan(5_000)
  })
})
