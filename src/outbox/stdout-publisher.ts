/** The publisher for a person or a pipe: one JSON line {topic, key, headers, value} each. */

import type { Writable } from 'node:stream'
import type { ClosablePublisher, OutgoingMessage, PublishOutcome } from './publisher.js'

export class StdoutPublisher implements ClosablePublisher {
  readonly #stream: Writable
  #failure: Error | undefined
  /** The last write, which its caller may have given up since; it never rejects. */
  #written: Promise<PublishOutcome> = Promise.resolve({ kind: 'published' })
  #closed = false

  constructor(stream: Writable) {
    this.#stream = stream
    // A reader that goes away (EPIPE) is also announced here; unowned, it would end the process.
    // The listener stays after `close`, for a write under way may still fail.
    stream.on('error', (error) => {
      this.#failure = error
    })
  }

  async publish(
    topic: string,
    messages: readonly OutgoingMessage[],
    signal: AbortSignal,
  ): Promise<PublishOutcome> {
    if (this.#closed || signal.aborted) return { kind: 'abandoned' }
    if (this.#failure !== undefined) return unavailable(this.#failure.message)
    if (messages.length === 0) return { kind: 'published' }
    // Before a reader that stands still, what was given up stays in the stream: one batch is enough.
    const previous = await untilAborted(this.#written, signal)
    if (previous.kind !== 'published') return previous
    const lines = messages.map(({ key, headers, value }) =>
      JSON.stringify({ topic, key, headers, value }),
    )
    this.#written = this.#write(`${lines.join('\n')}\n`)
    return untilAborted(this.#written, signal)
  }

  /** The stream itself is its owner's to end. */
  close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }

  /** Answers once the text has left, so a slow reader slows the relay and fills no memory. */
  #write(text: string): Promise<PublishOutcome> {
    return new Promise((resolve) => {
      this.#stream.write(text, (error) => {
        resolve(error ? unavailable(error.message) : { kind: 'published' })
      })
    })
  }
}

function untilAborted(
  outcome: Promise<PublishOutcome>,
  signal: AbortSignal,
): Promise<PublishOutcome> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve({ kind: 'abandoned' })
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void outcome.then((known) => {
      signal.removeEventListener('abort', onAbort)
      resolve(known)
    })
  })
}

function unavailable(reason: string): PublishOutcome {
  return { kind: 'unavailable', scope: 'transport', reason: `standard output: ${reason}` }
}
