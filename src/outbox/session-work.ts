/**
 * What a session does beside its caller: one piece after the other, for a session answers one
 * statement at a time. A failure is kept for whoever waits next, and what was begun behind it is not
 * done: the session may be in any state.
 */

export interface SessionWork {
  /** Does it after all that was begun before. */
  begin(piece: () => Promise<void>): void
  /** Resolves when nothing is under way; rejects with the first failure, from then on each time. */
  done(): Promise<void>
}

export function createSessionWork(): SessionWork {
  let last: Promise<void> = Promise.resolve()
  return {
    begin(piece) {
      last = last.then(piece)
      // Owned here, for nobody may ever wait for it: the process is ending, or the lock is lost.
      last.catch(() => undefined)
    },
    done: () => last,
  }
}
