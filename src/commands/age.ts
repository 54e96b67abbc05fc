/** How long ago, or how soon, in the few characters that a table has for it. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** The one unit that says most: `3d`, `14h`, `5m`, `20s`; `0s` for less, and for what lies ahead. */
export function ageText(time: string, now: string): string {
  const ms = Date.parse(now) - Date.parse(time)
  // The column can hold what no clock shows: infinity.
  return Number.isNaN(ms) ? time : durationText(ms)
}

/** Time until then; `now` where it has come. */
export function untilText(time: string, now: string): string {
  const ms = Date.parse(time) - Date.parse(now)
  if (Number.isNaN(ms)) return time
  return ms <= 0 ? 'now' : durationText(ms)
}

/** @param ms milliseconds; less than 0 is 0 */
export function durationText(ms: number): string {
  const [name, unitMs] = units.find(([, unit]) => ms >= unit) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(ms / unitMs))}${name}`
}
