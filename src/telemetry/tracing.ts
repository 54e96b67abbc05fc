/**
 * The service's own spans, by the OpenTelemetry API alone: where no SDK was started
 * (start-tracing.ts) each of these is a plain call of the function it is given.
 *
 * Attempt spans lie inside the cycle's; publish spans link to the attempts whose events they carry,
 * since one batch carries the events of many and is sent later.
 */

import {
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span,
  type SpanContext,
  type SpanOptions,
} from '@opentelemetry/api'

/** Finds the SDK by itself, if one is started, now or later. */
const tracer = trace.getTracer('chat-provision-retry')

/**
 * W3C Trace Context, version 00 only: what this service wrote itself, or the messenger did.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */
const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** The `traceparent` of the span that runs here, or null where tracing is off. */
export function currentTraceparent(): string | null {
  const context = trace.getActiveSpan()?.spanContext()
  if (context === undefined || !isSpanContextValid(context)) return null
  const flags = context.traceFlags.toString(16).padStart(2, '0')
  return `00-${context.traceId}-${context.spanId}-${flags}`
}

export function withCycleSpan<T>(jobRunId: string, work: (span: Span) => Promise<T>): Promise<T> {
  return inSpan('chat provision cycle', { root: true, attributes: { jobRunId } }, work)
}

interface AttemptAttributes {
  readonly dealId: string
  /** Runs including this one. */
  readonly attempts: number
  readonly dealTenantId: string | null
}

export function withAttemptSpan<T>(
  { dealId, attempts, dealTenantId }: AttemptAttributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const attributes = {
    DealId: dealId,
    Attempts: attempts,
    ...(dealTenantId !== null && { DealTenantId: dealTenantId }),
  }
  return inSpan('chat provision attempt', { attributes }, work)
}

interface PublishAttributes {
  readonly topic: string
  /** The stored `traceparent` of each event, null where it was written untraced. */
  readonly traceparents: readonly (string | null)[]
}

/** A span of its own trace: it belongs to all the attempts that it links to, and to none. */
export function withPublishSpan<T>(
  { topic, traceparents }: PublishAttributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const contexts = [...new Set(traceparents)].map(parseTraceparent)
  const options: SpanOptions = {
    root: true,
    kind: SpanKind.PRODUCER,
    links: contexts.flatMap((context) => (context === undefined ? [] : [{ context }])),
    attributes: {
      'messaging.destination.name': topic,
      'messaging.operation.type': 'send',
      'messaging.batch.message_count': traceparents.length,
    },
  }
  return inSpan(`send ${topic}`, options, work)
}

function parseTraceparent(traceparent: string | null): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const context: SpanContext = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}

function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span)
    } catch (error) {
      markFailed(span, errorType(error))
      throw error
    } finally {
      span.end()
    }
  })
}

/** The error's code only: its message may quote data, and traces are read more widely than logs. */
export function markFailed(span: Span, code: string): void {
  span.setAttribute('error.type', code)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}
