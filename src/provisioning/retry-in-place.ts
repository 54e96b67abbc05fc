/**
 * What becomes of one row's transaction when it fails, by the class of its failure:
 *
 * own failure     recorded at once: the attempt counts, the work is undone
 * contention      the whole row again, a few times with jitter, then recorded
 * infrastructure  untouched, unless a fresh session answers and the row fails so again: then it is
 *                 the row's own work that ends sessions, and it is recorded like contention
 */

import type { Random } from '../chokaq/kernel/backoff.js'
import { pause } from '../timers.js'
import { classifyRowFailure, type RowFailure } from './last-error.js'

export type AttemptOutcome =
  | { readonly kind: 'provisioned'; readonly chatId: string; readonly attempts: number }
  | { readonly kind: 'retried' | 'poison'; readonly failure: RowFailure; readonly attempts: number }
  /** Taken by someone else, no longer due, or Ready already. */
  | { readonly kind: 'skipped' }
  /** Rolled back whole: the database is away, the cycle is being stopped, or nothing can be recorded. */
  | { readonly kind: 'untouched'; readonly infrastructure: boolean; readonly error: unknown }

export interface RetryContext {
  readonly random: Random
  /** False once the cycle must not begin anything more: stopped, lock lost. */
  readonly mayGoOn: () => boolean
  /** Does a fresh session answer, and can it write? */
  readonly probe: () => Promise<boolean>
}

/** Tries of a row that meets contention; a deadlock's victim mostly succeeds at the second. */
const contentionTries = 4
/** Before the second try at most twice this; doubles each time, and chance takes away up to all. */
const contentionPauseMs = 50
/** A row whose work ends this many sessions, with the server answering, is at fault itself. */
const sessionLosses = 2

/**
 * Runs `work` until it gives an outcome or its failure is to be kept, then `record`.
 * Rejects only where `record` does.
 */
export async function retryInPlace(
  context: RetryContext,
  work: () => Promise<AttemptOutcome>,
  record: (failure: RowFailure, error: unknown) => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  let contentions = 0
  let losses = 0
  // A session lets go of its row a moment after it has told of its end: a row that is found locked just
  // after it is looked at again, or the attempt that ended the session would never be counted.
  const pastOwnLock = async (step: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> => {
    for (let tries = 1; ; tries += 1) {
      const outcome = await step()
      const mayBeOwn = outcome.kind === 'skipped' && losses > 0
      if (!mayBeOwn || tries >= contentionTries || !context.mayGoOn()) return outcome
      await pause(contentionPauseMs * 2 ** tries)
    }
  }
  for (;;) {
    try {
      return await pastOwnLock(work)
    } catch (error) {
      const failure = classifyRowFailure(error)
      if (failure.class === 'infrastructure') {
        if (!(await context.probe())) return { kind: 'untouched', infrastructure: true, error }
        losses += 1
        if (losses >= sessionLosses)
          return pastOwnLock(() => record({ class: 'contention', code: failure.code }, error))
      } else if (failure.class === 'contention') {
        contentions += 1
        if (contentions >= contentionTries) return record(failure, error)
        await pause(contentionPauseMs * 2 ** contentions * context.random())
      } else {
        return record(failure, error)
      }
      if (!context.mayGoOn()) return { kind: 'untouched', infrastructure: false, error }
    }
  }
}
