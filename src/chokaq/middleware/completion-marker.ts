/**
 * A longer memory than the hot table's: a job whose idempotency key has been done already, for
 * however long ago the marker is kept, succeeds without its handler. It remembers that the work was
 * done, not what came of it, and makes no side effect exactly-once: a worker that dies between the
 * handler's end and the marker runs it again.
 */

import type { WorkerPort } from '../storage/worker-port.js'
import type { Middleware } from './middleware.js'

export interface CompletionMarkers {
  has(typeKey: string, idempotencyKey: string): Promise<boolean>
  /** Called when the handler has ended well, before the job itself is archived. */
  put(typeKey: string, idempotencyKey: string): Promise<void>
}

/** Jobs without idempotency key pass. */
export function rememberCompletion(markers: CompletionMarkers): Middleware {
  return async ({ typeKey, idempotencyKey, log }, next) => {
    if (idempotencyKey === undefined) return next()
    if (await markers.has(typeKey, idempotencyKey)) {
      log.info({ event: 'job done already', idempotencyKey }, 'job done already')
      return
    }
    await next()
    await markers.put(typeKey, idempotencyKey)
  }
}

/** The archive as the memory: as long as it is kept, and written by the job's own success. */
export function archiveMarkers(storage: Pick<WorkerPort, 'findSucceeded'>): CompletionMarkers {
  return {
    has: async (typeKey, key) => (await storage.findSucceeded(typeKey, key)) !== undefined,
    put: () => Promise.resolve(),
  }
}
