/** The command line with tracing on: its spans, as a collector receives them. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { seedDeal } from '../support/deals.js'
import { attributeOf, startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
let receiver: OtlpReceiver

beforeAll(async () => {
  receiver = await startOtlpReceiver()
})
afterAll(() => receiver.stop())

it('a run is one trace: cycle, attempts, queries; what is published links to its attempt', async () => {
  const good = await seedDeal(database().admin, { title: 'Villa for Ann' })
  const bad = await seedDeal(database().admin, { members: [] })
  const { exitCode, stdout } = await runCli(['run-once', '--json'], {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'stdout',
    ...receiver.environment,
  })
  expect(exitCode).toBe(0)
  const lines = stdout.trim().split('\n')
  const { jobRunId } = JSON.parse(lines.at(-1) ?? '') as { jobRunId: string }

  const [cycle] = receiver.named('chat provision cycle')
  expect(attributeOf(cycle, 'jobRunId')).toEqual({ stringValue: jobRunId })
  const attemptOf = (dealId: string) =>
    receiver
      .named('chat provision attempt')
      .find((span) => attributeOf(span, 'DealId')?.stringValue === dealId)
  for (const { dealId } of [good, bad]) {
    expect(attemptOf(dealId)?.parentSpanId).toBe(cycle?.spanId)
    const queries = receiver.spans.filter(
      ({ parentSpanId }) => parentSpanId === attemptOf(dealId)?.spanId,
    )
    expect(queries.length).toBeGreaterThan(0)
  }
  expect(attributeOf(attemptOf(bad.dealId), 'error.type')).toEqual({ stringValue: 'NO_MEMBERS' })

  const attempt = attemptOf(good.dealId)
  const event = JSON.parse(lines[0] ?? '') as { headers: Record<string, string> }
  expect(event.headers['traceparent']).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`)
  const published = receiver.spans.filter(({ name }) => name.startsWith('send '))
  expect(published.flatMap(({ links }) => links ?? [])).toMatchObject([
    { traceId: attempt?.traceId, spanId: attempt?.spanId },
  ])
  expect(JSON.stringify(receiver.spans)).not.toContain('Villa')
})
