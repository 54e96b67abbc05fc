/** Spans through the real OTLP exporter to a receiver on this machine. */

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTracing, type StopTracing } from '../../../src/telemetry/start-tracing.js'
import {
  currentTraceparent,
  withAttemptSpan,
  withCycleSpan,
  withPublishSpan,
} from '../../../src/telemetry/tracing.js'

interface OtlpSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  links?: { traceId: string; spanId: string }[]
  status: { code?: number; message?: string }
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

interface OtlpRequest {
  resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[]
}

const spans: OtlpSpan[] = []
const receiver = createServer(
  (request, response) => void receive(request).then(() => response.end('{}')),
)
let stopTracing: StopTracing

async function receive(request: IncomingMessage): Promise<void> {
  const body = JSON.parse(await text(request)) as OtlpRequest
  spans.push(...body.resourceSpans.flatMap((r) => r.scopeSpans.flatMap((scope) => scope.spans)))
}

const named = (name: string) => spans.filter((span) => span.name === name)
const attribute = (span: OtlpSpan | undefined, key: string) =>
  span?.attributes.find((candidate) => candidate.key === key)?.value

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
    await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve))
    const { port } = receiver.address() as AddressInfo
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${port}`
    process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'http/json'
    stopTracing = await startTracing(process.env)
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
  afterAll(() => void receiver.close())

  it('nests the attempts in the cycle', () => {
    const [cycle] = named('chat provision cycle')
    expect(attribute(cycle, 'jobRunId')).toEqual({ stringValue: 'run-7' })
    const attempts = named('chat provision attempt')
    expect(attempts.map((span) => span.parentSpanId)).toEqual([cycle?.spanId, cycle?.spanId])
    expect(attribute(attempts[0], 'DealId')).toEqual({ stringValue: 'deal-1' })
    expect(attribute(attempts[0], 'Attempts')).toEqual({ intValue: 2 })
    expect(attribute(attempts[0], 'DealTenantId')).toEqual({ stringValue: 'tenant-1' })
    expect(attribute(attempts[1], 'DealTenantId')).toBeUndefined()
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
    expect(attribute(failed, 'error.type')).toEqual({ stringValue: '23503' })
    expect(JSON.stringify(spans)).not.toContain('Villa')
  })
})
