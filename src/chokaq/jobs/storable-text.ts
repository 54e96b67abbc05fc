/**
 * Error texts are written by anybody, and must never make the writing of the failure fail: U+0000 and
 * halves of surrogate pairs, which PostgreSQL can't store, are replaced, and the length is cut.
 */

/** At most `length` UTF-16 units; a pair that this would cut in half is replaced. */
export function storableText(text: string, length = Infinity): string {
  return text.slice(0, length).replaceAll('\0', '\uFFFD').toWellFormed()
}
