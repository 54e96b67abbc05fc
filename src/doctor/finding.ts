/** What one check of `doctor` came to, in words for whoever has to mend it. */

/**
 * ok       in order
 * warning  works, and gets worse or is not as it should be
 * failed   stands in the way of the service's work
 * skipped  could not be looked at, or does not apply; `found` says why
 */
export type FindingStatus = 'ok' | 'warning' | 'failed' | 'skipped'

export interface Verdict {
  readonly status: FindingStatus
  /** What was seen. */
  readonly found: string
  /** What to do about it; null where there is nothing to do. */
  readonly mend: string | null
}

export interface Finding extends Verdict {
  /** The check's name. */
  readonly check: string
}

export const ok = (found: string): Verdict => ({ status: 'ok', found, mend: null })
export const warning = (found: string, mend: string): Verdict => ({
  status: 'warning',
  found,
  mend,
})
export const failed = (found: string, mend: string): Verdict => ({ status: 'failed', found, mend })
export const skipped = (found: string): Verdict => ({ status: 'skipped', found, mend: null })

/** Several troubles of one check in one verdict, the worst of them deciding. */
export function worstOf(troubles: readonly Verdict[], inOrder: string): Verdict {
  const worst = troubles.find(({ status }) => status === 'failed') ?? troubles[0]
  if (worst === undefined) return ok(inOrder)
  const mends = troubles.flatMap(({ mend }) => mend ?? [])
  return {
    status: worst.status,
    found: troubles.map(({ found }) => found).join('; '),
    mend: [...new Set(mends)].join('; '),
  }
}
