/** A local receiver of OTLP over HTTP with JSON, which keeps the spans that come. */

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: number }
  }[]
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

export interface OtlpReceiver {
  /** What turns tracing on towards this receiver. */
  readonly environment: Readonly<Record<string, string>>
  /** All that have come, in the order in which they came. */
  readonly spans: readonly OtlpSpan[]
  named(name: string): OtlpSpan[]
  stop(): void
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: OtlpSpan[] = []
  const receive = async (request: IncomingMessage): Promise<void> => {
    const { resourceSpans } = JSON.parse(await text(request)) as OtlpRequest
    spans.push(...resourceSpans.flatMap((of) => of.scopeSpans.flatMap((scope) => scope.spans)))
  }
  const server = createServer(
    (request, response) => void receive(request).then(() => response.end('{}')),
  )
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
    spans,
    named: (name) => spans.filter((span) => span.name === name),
    stop: () => void server.close(),
  }
}

export function attributeOf(span: OtlpSpan | undefined, key: string) {
  return span?.attributes.find((candidate) => candidate.key === key)?.value
}
