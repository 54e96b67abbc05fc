/** Where a page of a list ended, as an opaque text. */

import { ChokaqError } from '../errors.js'

export interface ListPosition {
  readonly id: string
  /** As the storage orders by it, to its full precision; absent in the hot table. */
  readonly finishedAt?: string | undefined
}

export function encodeCursor({ id, finishedAt }: ListPosition): string {
  return Buffer.from([id, finishedAt ?? ''].join(' ')).toString('base64url')
}

/** More than 18 digits of microseconds are a time that no storage knows. @throws ChokaqError CURSOR_INVALID */
export function decodeCursor(cursor: string, hasFinished: boolean): ListPosition {
  const [, id, finishedAt] =
    /^([0-9A-Z]{26}) ([0-9]{0,18})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id !== undefined && (finishedAt !== '') === hasFinished) return { id, finishedAt }
  throw new ChokaqError(
    'CURSOR_INVALID',
    'This is no cursor of this list. Begin with the first page, and change no filter between pages.',
  )
}
