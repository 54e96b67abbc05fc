/** The publisher for a person or a pipe: one JSON line {topic, key, headers, value} each. */

import type { Writable } from 'node:stream'
import type { ClosablePublisher, OutgoingMessage, PublishOutcome } from './publisher.js'

export class StdoutPublisher implements ClosablePublisher {
  readonly #stream: Writable
  #failure: Error | undefined
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
    const lines = messages.map(({ key, headers, value }) =>
      JSON.stringify({ topic, key, headers, value }),
    )
    return this.#write(`${lines.join('\n')}\n`, signal)
  }

  /** The stream itself is its owner's to end. */
  close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }

  /** Answers once the text has left, so a slow reader slows the relay and fills no memory. */
  #write(text: string, signal: AbortSignal): Promise<PublishOutcome> {
    return new Promise((resolve) => {
      const onAbort = (): void => resolve({ kind: 'abandoned' })
      signal.addEventListener('abort', onAbort, { once: true })
      this.#stream.write(text, (error) => {
        signal.removeEventListener('abort', onAbort)
        resolve(error ? unavailable(error.message) : { kind: 'published' })
      })
    })
  }
}

function unavailable(reason: string): PublishOutcome {
  return { kind: 'unavailable', scope: 'transport', reason: `standard output: ${reason}` }
}
