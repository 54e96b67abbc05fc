/** Spans through the real OTLP exporter to a receiver on this machine. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTracing } from '../../../src/telemetry/start-tracing.js'
import {
  currentTraceparent,
  withAttemptSpan,
  withCycleSpan,
  withPublishSpan,
} from '../../../src/telemetry/tracing.js'
import { attributeOf, startOtlpReceiver, type OtlpReceiver } from '../../support/otlp-receiver.js'

let receiver: OtlpReceiver
const named = (name: string) => receiver.named(name)

describe('without an endpoint', () => {
  it('runs the work and knows no trace', async () => {
    const stop = await startTracing({ OTEL_SERVICE_NAME: 'x' })
    const seen = await withCycleSpan('run', () => Promise.resolve(currentTraceparent()))
    expect(seen).toBeNull()
    await stop()
  })
})

describe('with an endpoint', () => {
  let traceparents: (string | null)[] = []

  beforeAll(async () => {
    receiver = await startOtlpReceiver()
    Object.assign(process.env, receiver.environment)
    const stopTracing = await startTracing(process.env)
    traceparents = await withCycleSpan('run-7', async () => [
      await withAttemptSpan({ dealId: 'deal-1', attempts: 2, dealTenantId: 'tenant-1' }, () =>
        Promise.resolve(currentTraceparent()),
      ),
      await withAttemptSpan({ dealId: 'deal-2', attempts: 1, dealTenantId: null }, () =>
        Promise.reject(Object.assign(new Error('Villa for Ann'), { code: '23503' })),
      ).catch(() => null),
    ])
    await withPublishSpan({ topic: 'deals', traceparents: [...traceparents, 'rubbish'] }, () =>
      Promise.resolve(),
    )
    await stopTracing()
  })
  afterAll(() => receiver.stop())

  it('nests the attempts in the cycle', () => {
    const [cycle] = named('chat provision cycle')
    expect(attributeOf(cycle, 'jobRunId')).toEqual({ stringValue: 'run-7' })
    const attempts = named('chat provision attempt')
    expect(attempts.map((span) => span.parentSpanId)).toEqual([cycle?.spanId, cycle?.spanId])
    expect(attributeOf(attempts[0], 'DealId')).toEqual({ stringValue: 'deal-1' })
    expect(attributeOf(attempts[0], 'Attempts')).toEqual({ intValue: 2 })
    expect(attributeOf(attempts[0], 'DealTenantId')).toEqual({ stringValue: 'tenant-1' })
    expect(attributeOf(attempts[1], 'DealTenantId')).toBeUndefined()
  })

  it('links the publish span to the attempt that wrote the event', () => {
    const [publish] = named('send deals')
    const [attempt] = named('chat provision attempt')
    expect(publish?.links).toEqual([
      expect.objectContaining({ traceId: attempt?.traceId, spanId: attempt?.spanId }),
    ])
    expect(publish?.traceId).not.toBe(attempt?.traceId)
  })

  it('gives the traceparent of the attempt', () => {
    const [attempt] = named('chat provision attempt')
    expect(traceparents[0]).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`)
  })

  it('marks a failed attempt by its code, never by its text', () => {
    const failed = named('chat provision attempt')[1]
    expect(failed?.status.code).toBe(2)
    expect(attributeOf(failed, 'error.type')).toEqual({ stringValue: '23503' })
    expect(JSON.stringify(receiver.spans)).not.toContain('Villa')
  })
})
