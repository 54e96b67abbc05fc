/**
 * Hands the candidates of one selection to several lanes, one at a time, reading BatchSize of them
 * whenever it runs dry. Lanes never wait for the slowest row of a batch, only for a read.
 */

import type { Candidate } from './candidates.js'

export interface CandidateFeed {
  /** The next row, or undefined when there is none left. */
  next(): Promise<Candidate | undefined>
}

/**
 * @param readAfter reads the next rows in the selection's order, strictly after the given one
 */
export function createCandidateFeed(
  readAfter: (after: Candidate | undefined) => Promise<Candidate[]>,
): CandidateFeed {
  const waiting: Candidate[] = []
  let last: Candidate | undefined
  let exhausted = false
  let reading: Promise<void> | undefined

  const refill = async (): Promise<void> => {
    try {
      const batch = await readAfter(last)
      waiting.push(...batch)
      last = batch.at(-1)
      exhausted = batch.length === 0
    } finally {
      reading = undefined
    }
  }

  return {
    async next() {
      while (waiting.length === 0 && !exhausted) await (reading ??= refill())
      return waiting.shift()
    },
  }
}
