/** `doctor` on Kafka: brokers that are away, topics that lack, settings that break a promise. */

import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { Environment } from '../../src/config/read-options.js'
import { expectOnly, useDoctor, type Findings } from '../support/doctor.js'
import { createTopic, describeWithKafka, kafkaBrokers } from '../support/kafka.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const { examine } = useDoctor(database)

async function examineTopic(topic: string, environment: Environment = {}): Promise<Findings> {
  return examine({
    OUTBOX_RELAY: 'kafka',
    OUTBOX_TOPIC: topic,
    KAFKA_BROKERS: (await kafkaBrokers()).join(','),
    ...environment,
  })
}

it('a broker that is away: said with its address, the topic marked, the database looked at', async () => {
  const findings = await examine({ OUTBOX_RELAY: 'kafka', KAFKA_BROKERS: '127.0.0.1:1' })
  expectOnly(findings, 'broker')
  expect(findings['broker']?.found).toContain('127.0.0.1:1: ECONNREFUSED')
  expect(findings['topic']).toMatchObject({ status: 'skipped' })
  expect(findings['rows']).toMatchObject({ status: 'ok' })
})

it('a broker that never answers is not waited for beyond the limit', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const startedAt = performance.now()
  const findings = await examine({ OUTBOX_RELAY: 'kafka', KAFKA_BROKERS: `127.0.0.1:${port}` })
  expect(performance.now() - startedAt).toBeLessThan(30_000)
  silent.close()
  expectOnly(findings, 'broker')
})

describeWithKafka('a real broker', () => {
  it('and a sound topic: in order, but for its one copy', async () => {
    const findings = await examineTopic(await createTopic())
    expectOnly(findings, 'topic')
    expect(findings['broker']).toMatchObject({ status: 'ok', found: 'one broker up' })
    expect(findings['topic']).toMatchObject({
      status: 'warning',
      found: 'each partition has one copy only',
    })
  })

  it('without the topic: it is named, and not made', async () => {
    for (let n = 0; n < 2; n += 1) {
      const findings = await examineTopic('test.that.nobody.made')
      expect(findings['topic']).toMatchObject({ status: 'failed' })
      expect(findings['topic']?.found).toContain('test.that.nobody.made is not there')
      expect(findings['topic']?.mend).toContain('OUTBOX_TOPIC')
    }
  })

  it.each([
    ['max.message.bytes', '1000', 'failed'],
    ['min.insync.replicas', '2', 'failed'],
    ['message.timestamp.type', 'LogAppendTime', 'warning'],
    ['message.timestamp.before.max.ms', '60000', 'warning'],
  ])('with %s = %s: %s', async (name, value, status) => {
    const topic = await createTopic({ config: { [name]: value } })
    const findings = await examineTopic(topic)
    expect(findings['topic']?.status).toBe(status)
    expect(findings['topic']?.mend).toContain(name)
  })

  it('looks at the intake’s topic where the intake is on', async () => {
    const [out, intake] = [await createTopic(), await createTopic()]
    const there = await examineTopic(out, { INTAKE_ENABLED: 'true', INTAKE_TOPIC: intake })
    expect(there['intake topic']).toMatchObject({ status: 'ok' })
    const gone = await examineTopic(out, { INTAKE_ENABLED: 'true', INTAKE_TOPIC: `${intake}.no` })
    expect(gone['intake topic']?.mend).toContain('INTAKE_TOPIC')
  })
})
