/** How long ago, or how soon, in the few characters that a table has for it. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** The one unit that says most: `3d`, `14h`, `5m`, `20s`; `0s` for what lies ahead. */
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

/** @param ms milliseconds; less than 1 is `0s` */
export function durationText(ms: number): string {
  const unit = units.find(([, unitMs]) => ms >= unitMs)
  return unit === undefined ? '0s' : `${Math.floor(ms / unit[1])}${unit[0]}`
}
