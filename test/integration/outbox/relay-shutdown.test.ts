/** O6: the whole process ends in time, whatever has become of its broker. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestKafka, type TestKafka, type TestServerProcess } from '../../support/servers.js'
import { startCli, type RunningCli } from '../../support/cli.js'
import { createTopic, describeWithKafka } from '../../support/kafka.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { appendEvent, isInSend, outboxState } from './relay-fixtures.js'

const database = useTestDatabase()
const shutdownGraceMs = 10_000

describeWithKafka('serve ends within its grace period', () => {
  let kafka: TestKafka
  let node: TestServerProcess
  let topic: string
  let cli: RunningCli

  beforeAll(async () => {
    kafka = await startTestKafka()
    node = kafka.nodes[0] as TestServerProcess
  })
  afterAll(() => kafka.stop())
  beforeEach(async () => {
    await node.start()
    topic = await createTopic({ brokers: kafka.brokers })
    await database().query('truncate messenger.outbox_events')
    cli = startCli(['serve'], {
      DATABASE_URL: database().url,
      KAFKA_BROKERS: kafka.brokers.join(','),
      OUTBOX_TOPIC: topic,
      OUTBOX_POLL_INTERVAL: '100ms',
      HTTP_PORT: '0',
      SHUTDOWN_GRACE: `${shutdownGraceMs}ms`,
    })
  })
  afterEach(async () => {
    cli.child.kill('SIGKILL')
    await cli.exited
    process.kill(node.pid, 'SIGCONT')
  })

  /** Asks for the end while the relay is busy with a broker that doesn't answer. */
  async function expectTimelyEnd(): Promise<void> {
    const asked = performance.now()
    cli.child.kill('SIGTERM')
    expect(await cli.exited).toBe(0)
    expect(performance.now() - asked).toBeLessThan(shutdownGraceMs)
  }

  async function publishOne(): Promise<void> {
    const { id } = await appendEvent(database(), { topic })
    await waitFor(
      'the first event',
      async () => (await outboxState(database(), id)).state === 'published',
    )
  }

  test('with a broker that is frozen in mid-send', async () => {
    await publishOne()
    process.kill(node.pid, 'SIGSTOP')
    const { id } = await appendEvent(database(), { topic })
    await waitFor('the send', () => isInSend(database()))
    await expectTimelyEnd()
    expect(await outboxState(database(), id)).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('with a broker that is dead', async () => {
    await publishOne()
    await node.kill()
    const { id } = await appendEvent(database(), { topic })
    await cli.logged('outbox waits for kafka')
    await expectTimelyEnd()
    expect(await outboxState(database(), id)).toMatchObject({ state: 'pending', attempts: 0 })
    await node.start()
  })

  test('with a broker that was never there', async () => {
    await node.kill()
    await cli.logged('outbox waits for kafka')
    await expectTimelyEnd()
    await node.start()
  })
})
