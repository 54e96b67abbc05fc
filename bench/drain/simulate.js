/**
 * How a backlog drains after an outage, on a clock of its own: the service's options, backoff and rules
 * of the cycle (docs: README, "Options"), rows as numbers. A million rows take seconds.
 */

import { backoffMs } from '../../dist/chokaq/kernel/backoff.js'

/**
 * Deals come evenly over the outage, and each one's first try has failed.
 *
 * @param kind 'rows fail': the service runs, every attempt fails and is counted, as behind a broken
 *   table of the messenger's; 'database away': nothing runs, no attempt is spent
 * @param retry the service's options
 * @param rowsPerSecond what one process does, failing attempts or good ones
 * @param random uniform in [0, 1)
 * @returns milliseconds after the outage's end at which half, 99 % and all rows were Ready, how many
 *   became poison, the most attempts in one cycle, and attempts per row
 */
export function simulateDrain({ kind, rows, outageMs, rowsPerSecond, retry, random }) {
  const due = Float64Array.from({ length: rows }, (_, row) => (row * outageMs) / rows)
  const attempts = new Uint8Array(rows)
  const waiting = new Set(due.keys())
  const readyAt = []
  const result = { poison: 0, mostInACycle: 0, attempts: 0 }
  let at = kind === 'rows fail' ? 0 : outageMs
  while (waiting.size > 0) {
    const asOf = at
    const dueNow = [...waiting].filter((row) => due[row] <= asOf).sort((a, b) => due[a] - due[b])
    const fit = Math.ceil((retry.maxRunDurationMs * rowsPerSecond) / 1_000)
    const taken = dueNow.slice(0, fit)
    for (const row of taken) {
      at += 1_000 / rowsPerSecond
      attempts[row] += 1
      if (at >= outageMs) {
        readyAt.push(at - outageMs)
        waiting.delete(row)
      } else if (attempts[row] === retry.maxAttempts) {
        result.poison += 1
        waiting.delete(row)
      } else due[row] = asOf + backoffMs(retry.backoff, attempts[row], random)
    }
    result.attempts += taken.length
    result.mostInACycle = Math.max(result.mostInACycle, taken.length)
    at = nextTick(asOf, at, retry.pollingIntervalMs)
  }
  return { ...result, readyAt }
}

/** Fixed rate; a tick that comes while a cycle runs is not made up for. */
function nextTick(started, ended, intervalMs) {
  return started + Math.max(1, Math.ceil((ended - started) / intervalMs)) * intervalMs
}
