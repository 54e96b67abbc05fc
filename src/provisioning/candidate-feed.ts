/**
 * Hands the candidates of one selection to several lanes, one at a time, BatchSize of them at a read.
 * While a batch is worked off the next is read, so lanes wait neither for the slowest row nor for a read.
 */

import type { Candidate } from './candidates.js'

export interface CandidateFeed {
  /** The next row, or undefined when there is none left. */
  next(): Promise<Candidate | undefined>
}

/**
 * @param readAfter reads the next rows in the selection's order, strictly after the given one
 * @param onBatch told of each batch that has rows, as its first is handed out
 */
export function createCandidateFeed(
  readAfter: (after: Candidate | undefined) => Promise<Candidate[]>,
  onBatch: (batch: readonly Candidate[]) => void,
): CandidateFeed {
  const waiting: Candidate[] = []
  let exhausted = false
  let turning: Promise<void> | undefined
  /** Of the batch behind the one that is worked off. */
  let ahead: Promise<Candidate[]> | undefined
  let last: Candidate | undefined

  const nextBatch = async (): Promise<void> => {
    try {
      const batch = await (ahead ?? readAfter(last))
      ahead = undefined
      exhausted = batch.length === 0
      if (exhausted) return
      onBatch(batch)
      waiting.push(...batch)
      last = batch.at(-1)
      ahead = readAfter(last)
      // Told to whoever waits for it; where nobody does yet, it is done again for the first who will.
      ahead.catch(() => (ahead = undefined))
    } finally {
      turning = undefined
    }
  }

  return {
    async next() {
      while (waiting.length === 0 && !exhausted) await (turning ??= nextBatch())
      return waiting.shift()
    },
  }
}
