/**
 * The port to whatever carries the events: one method, and outcomes that tell the relay what to do
 * with the rows. Whose failure it was is the question that matters: a message's own failure spends
 * an attempt of its row, the transport's never does.
 */

export interface OutgoingMessage {
  readonly key: string
  /** In the order in which they are sent; a header without a value is absent, never empty. */
  readonly headers: Readonly<Record<string, string>>
  readonly value: string
  /** Record timestamp, Unix milliseconds. */
  readonly timestampMs: number
}

export type PublishOutcome =
  /** Every message is acknowledged. */
  | { readonly kind: 'published' }
  /**
   * The transport works and refused what was given: a message of the batch is at fault, or the sum
   * of them. Some of the others may have been stored; sent again, they are redeliveries.
   */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The transport, or this topic of it, can't be used now; says nothing about the messages. */
  | {
      readonly kind: 'unavailable'
      readonly scope: 'transport' | 'topic'
      readonly reason: string
    }
  /** Nobody knows whether the messages are stored (timeout, closed connection, deadline). */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** As unknown, but given up by the caller's signal: says nothing about the transport either. */
  | { readonly kind: 'abandoned' }

/**
 * How old what is known of the transport may grow, milliseconds, before it is asked again. Ten
 * seconds of one metadata request cost nothing, and a readiness probe looks no more often.
 */
export const proofAgeMs = 10_000

export interface Publisher {
  /**
   * Sends the messages to one topic, keeping their order per key. It never rejects, and resolves
   * within a bounded time (on a pipe, at the reader's pace). An empty batch only proves that the topic can be reached.
   * `signal` gives the wait up at once, for the process is to end.
   */
  publish(
    topic: string,
    messages: readonly OutgoingMessage[],
    signal: AbortSignal,
  ): Promise<PublishOutcome>
}

/** A publisher that holds connections; `close` bears being called twice or before any use. */
export interface ClosablePublisher extends Publisher {
  close(): Promise<void>
}
