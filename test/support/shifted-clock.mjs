/**
 * Preloaded into a process by NODE_OPTIONS=--import: its clock is off by CLOCK_SHIFT_MS, and jumps by
 * CLOCK_JUMP_MS at each SIGCONT, as a host's does that is set by hand or by NTP. Timers and
 * performance.now() go on evenly, as they do there.
 */

import process from 'node:process'

const RealDate = Date
let shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0)
const now = () => RealDate.now() + shiftMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

process.on('SIGCONT', () => {
  shiftMs += Number(process.env.CLOCK_JUMP_MS ?? 0)
  process.stderr.write(`${JSON.stringify({ event: 'clock jumped', shiftMs, now: now() })}\n`)
})
