/**
 * Starts OpenTelemetry where the standard OTEL_* variables name an endpoint, and costs nothing
 * elsewhere: the SDK is imported only then. Must run before pg is first imported, so that its
 * queries become spans; cli.ts therefore imports the rest after it.
 */

import { createRequire } from 'node:module'

export type StopTracing = () => Promise<void>

type Environment = Readonly<Record<string, string | undefined>>

/** A collector that doesn't answer must not eat the grace period; the spans are lost then. */
const flushTimeoutMs = 3_000

/** The SDK's promises are its own; what fails while it flushes is no reason to fail the process. */
export async function startTracing(env: Environment): Promise<StopTracing> {
  if (!isTracingOn(env)) return () => Promise.resolve()
  const [{ NodeSDK }, { PgInstrumentation }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/instrumentation-pg'),
  ])
  const sdk = new NodeSDK({
    // OTEL_SERVICE_NAME wins over it.
    serviceName: env['OTEL_SERVICE_NAME'] ?? 'chat-provision-retry',
    // A query outside any span is a poll that found nothing: no trace is worth it.
    instrumentations: [new PgInstrumentation({ requireParentSpan: true })],
    // Logs go to stderr and metrics to /metrics, whatever an OTEL_*_EXPORTER says.
    metricReaders: [],
    logRecordProcessors: [],
  })
  sdk.start()
  // The instrumentation patches what passes through require; the ESM entry of pg then hands out
  // the same, patched classes, without a loader hook or a Node flag.
  createRequire(import.meta.url)('pg')
  return () => settleWithin(sdk.shutdown(), flushTimeoutMs)
}

function isTracingOn(env: Environment): boolean {
  const isSet = (name: string) => (env[name] ?? '').trim() !== ''
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return false
  if (env['OTEL_TRACES_EXPORTER']?.trim() === 'none') return false
  return isSet('OTEL_EXPORTER_OTLP_ENDPOINT') || isSet('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
}

function settleWithin(work: Promise<void>, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    work.then(done, done)
  })
}
