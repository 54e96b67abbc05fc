/** What a consumer does with one message: keep what is newer, pass over the rest, stop at nothing. */

import { readMessage, type IncomingMessage, type ReadResult } from './read-message.js'
import type { StatusStore } from './status-store.js'

export type Handled = 'stored' | 'old or redelivered' | Exclude<ReadResult['kind'], 'event'>

/**
 * Resolves once the message needs no more attention, so that its offset may be committed; rejects
 * where the store failed, so that the message comes again.
 *
 * @param putAside gets what breaks the contract
 */
export async function handleMessage(
  message: IncomingMessage,
  store: StatusStore,
  putAside: (message: IncomingMessage, reason: string) => Promise<void>,
): Promise<Handled> {
  const result = readMessage(message)
  if (result.kind === 'event') {
    return (await store.storeIfNewer(result.event)) ? 'stored' : 'old or redelivered'
  }
  if (result.kind === 'unreadable') await putAside(message, result.reason)
  return result.kind
}
