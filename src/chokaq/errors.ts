/** The errors that callers of the core are meant to handle, each with a code and a text that says what to do. */

export type ChokaqErrorCode =
  | 'PAYLOAD_TOO_LARGE'
  | 'PAYLOAD_NOT_JSON'
  | 'TYPE_INVALID'
  | 'TYPE_UNKNOWN'
  | 'TYPE_DUPLICATE'
  | 'QUEUE_INVALID'
  | 'QUEUE_LIMIT_INVALID'
  /** Someone else has changed the queue since. */
  | 'QUEUE_CHANGED'
  | 'PRIORITY_OUT_OF_RANGE'
  | 'DELAY_INVALID'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'TAGS_INVALID'
  | 'ACTOR_INVALID'
  | 'PAYLOAD_INVALID'
  | 'OPTION_INVALID'
  | 'CHECKPOINT_INVALID'
  | 'FILTER_INVALID'
  | 'CURSOR_INVALID'
  /** The in-memory storage holds as many live jobs as it may. */
  | 'STORAGE_FULL'

export class ChokaqError extends Error {
  readonly code: ChokaqErrorCode

  constructor(code: ChokaqErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ChokaqError'
    this.code = code
  }
}
