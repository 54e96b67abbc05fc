/** The relay where Kafka asks who it is: TLS with a CA file, SASL, certificates that change, rights. */

import { copyFile, rm } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { KafkaOptions } from '../../../src/config/config.js'
import { createTopic, describeWithKafka, readTopic } from '../../support/kafka.js'
import {
  relayUser,
  startSecuredKafka,
  type Listener,
  type SecuredKafka,
} from '../../support/secured-kafka.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import {
  appendEvent,
  createTestKafkaPublisher,
  createTestRelay,
  outboxState,
  type SeededEvent,
  type TestRelay,
} from './relay-fixtures.js'

/** An outage outlasts a send and a growing pause or two. */
const recovery = { timeoutMs: 30_000 }

const database = useTestDatabase()

describeWithKafka('the relay, where Kafka asks who it is', () => {
  let kafka: SecuredKafka
  let topic: string

  beforeAll(async () => {
    kafka = await startSecuredKafka()
  })
  afterAll(() => kafka.stop())
  beforeEach(async () => {
    await database().query('truncate messenger.outbox_events')
    topic = await createTopic({ brokers: kafka.brokers })
  })

  const allow = (user: { username: string }, right: 'WRITE' | 'DESCRIBE'): Promise<void> =>
    kafka.allow(user, right, topic)

  function startRelay(access: KafkaOptions): TestRelay {
    const test = createTestRelay(database(), { topic, publisher: createTestKafkaPublisher(access) })
    test.relay.start()
    return test
  }

  const append = (to = topic): Promise<SeededEvent> => appendEvent(database(), { topic: to })

  const isPublished = async ({ id }: SeededEvent): Promise<boolean> =>
    (await outboxState(database(), id)).state === 'published'

  /**
   * What stands in the way is told once and spends no attempt of the event that waits. On a machine
   * with more to do, Kafka may not have answered in time before, which is told too: it is news.
   */
  async function expectWaiting(
    { said }: TestRelay,
    event: SeededEvent,
    line: object,
  ): Promise<void> {
    const told = (): Record<string, unknown>[] =>
      said('outbox waits for kafka').filter(({ reason }) => reason !== 'no answer within 3000 ms')
    await waitFor('the line', () => told().length > 0)
    expect(told()).toMatchObject([line])
    expect(await outboxState(database(), event.id)).toMatchObject({ state: 'pending', attempts: 0 })
  }

  const reason = (text: string): { reason: string } => ({
    reason: expect.stringContaining(text) as string,
  })

  test.each<[string, Listener, KafkaOptions['sasl']]>([
    ['TLS with a CA file', 'tls', undefined],
    ['SASL PLAIN over TLS', 'saslTls', { mechanism: 'plain', ...relayUser }],
    ['SASL SCRAM-SHA-256 over TLS', 'saslTls', { mechanism: 'scram-sha-256', ...relayUser }],
    ['SASL SCRAM-SHA-512 over TLS', 'saslTls', { mechanism: 'scram-sha-512', ...relayUser }],
    ['SASL PLAIN without TLS', 'sasl', { mechanism: 'plain', ...relayUser }],
  ])('gets in by %s', async (_, listener, sasl) => {
    await allow(relayUser, 'WRITE')
    const event = await append()
    startRelay(kafka.access(listener, sasl))
    await waitFor('the event', () => isPublished(event))
    const [message] = await readTopic(topic, kafka.brokers)
    expect(message?.headers['ce_id']).toBe(event.id)
  })

  test.each([
    ['plain', 'Invalid username or password'],
    ['scram-sha-512', 'invalid credentials'],
  ] as const)('waits with a wrong password by %s, and never tells it', async (mechanism, text) => {
    const event = await append()
    const password = 'wrong horse'
    const relay = startRelay(kafka.access('saslTls', { mechanism, ...relayUser, password }))
    await expectWaiting(relay, event, reason(text))
    expect(JSON.stringify(relay.lines)).not.toContain(password)
  })

  test('waits with a certificate that it doesn’t trust, and goes on once the CA file is right', async () => {
    await copyFile(kafka.strangersCaFile, kafka.caFile)
    const event = await append()
    const relay = startRelay(kafka.access('tls'))
    await expectWaiting(relay, event, reason('CERT'))
    await copyFile(kafka.brokersCaFile(), kafka.caFile)
    await waitFor('the event', () => isPublished(event), recovery)
  })

  test('waits while the CA file is away', async () => {
    await rm(kafka.caFile)
    const event = await append()
    const relay = startRelay(kafka.access('tls'))
    await expectWaiting(
      relay,
      event,
      reason(`ENOENT: no such file or directory, open '${kafka.caFile}'`),
    )
    await copyFile(kafka.brokersCaFile(), kafka.caFile)
    await waitFor('the event', () => isPublished(event), recovery)
  })

  test('takes a renewed certificate when it connects again, without a restart', async () => {
    const { said } = startRelay(kafka.access('tls'))
    const before = await append()
    await waitFor('the first event', () => isPublished(before))
    await kafka.restartWithNewCertificate()
    const after = await append()
    await waitFor('the line', () =>
      said('outbox waits for kafka').some((line) => String(line['reason']).includes('CERT')),
    )
    await copyFile(kafka.brokersCaFile(), kafka.caFile)
    await waitFor('the next event', () => isPublished(after), recovery)
  })

  test.each([
    ['no right at all', [], 'TOPIC_AUTHORIZATION_FAILED'],
    ['no right to write', ['DESCRIBE'], 'AUTHORIZATION_FAILED'],
  ] as const)('waits with %s, and goes on once it has it', async (_, rights, text) => {
    for (const right of rights) await allow(relayUser, right)
    const event = await append()
    const relay = startRelay(kafka.access('sasl', { mechanism: 'plain', ...relayUser }))
    await expectWaiting(relay, event, reason(text))
    await allow(relayUser, 'WRITE')
    await waitFor('the event', () => isPublished(event), recovery)
  })

  test('waits for the topic that it may not write, and the others flow', async () => {
    const other = await createTopic({ brokers: kafka.brokers })
    await kafka.allow(relayUser, 'WRITE', other)
    const barred = await append()
    const free = await append(other)
    const relay = startRelay(kafka.access('sasl', { mechanism: 'plain', ...relayUser }))
    await waitFor('the free one', () => isPublished(free))
    await expectWaiting(relay, barred, { topic, ...reason('TOPIC_AUTHORIZATION_FAILED') })
    expect(relay.relay.health().broker).toMatchObject({ reachable: false })
  })
})
