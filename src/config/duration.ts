/**
 * Durations as options write them: a whole number and a unit, `500ms`, `60s`, `5m`, `2h`, `30d`.
 * No bare number, for its unit would be a guess, and no fraction: `90s` says what `1.5m` would.
 */

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Hundred years: more is a slip, and dates beyond it stop being representable in the database. */
export const maxDurationMs = 36_500 * unitMs.d

/**
 * The most that one `setTimeout` (and PostgreSQL's timeout settings) can wait: 2^31 − 1 ms, 24.8 days.
 * Node fires a longer one at once. Only CHAT_PROVISION_RETRY_POLLING_INTERVAL may be longer, so the
 * timer that waits for it must go in steps of at most this.
 */
export const maxTimerMs = 2 ** 31 - 1

/** Milliseconds, or undefined where the text is not a duration; 0 and beyond the limits included. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?<amount>\d+)(?<unit>ms|s|m|h|d)$/.exec(text)
  if (match?.groups === undefined) return undefined
  const { amount, unit } = match.groups as { amount: string; unit: keyof typeof unitMs }
  return Number(amount) * unitMs[unit]
}
