/**
 * What needn't be done before a lane sends its next row waits for the end of this turn of the event loop.
 * The log's line about a row is then made while the server works on the one after it.
 */

export interface EndOfTurn {
  /**
   * Does it when this turn is over, after whatever was asked for before.
   *
   * @throws the first failure of what was done until now: who goes on asking is to end
   */
  do(work: () => void): void
  /** Waits for those who ask, then does what still waits. Rejects with their failure, or the first of its own. */
  settledAfter(asking: Promise<void>): Promise<void>
}

export function createEndOfTurn(): EndOfTurn {
  let waiting: (() => void)[] = []
  let failure: { readonly error: unknown } | undefined
  const doAll = (): void => {
    const works = waiting
    waiting = []
    for (const work of works) {
      try {
        work()
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  return {
    do(work) {
      if (failure !== undefined) throw failure.error
      if (waiting.push(work) === 1) setImmediate(doAll)
    },
    async settledAfter(asking) {
      try {
        await asking
      } finally {
        doAll()
      }
      if (failure !== undefined) throw failure.error
    },
  }
}
