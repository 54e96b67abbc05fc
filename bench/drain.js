/**
 * Simulated, not measured: how a backlog drains after an outage of an hour with the service's own
 * options and backoff. Other options and speeds: CHAT_PROVISION_RETRY_…, `--set rowsPerSecond=400`.
 */

import process from 'node:process'
import { loadConfig } from '../dist/config/load-config.js'
import { below } from './frame/report.js'
import { percentile } from './frame/statistics.js'
import { simulateDrain } from './drain/simulate.js'

const kinds = ['rows fail', 'database away']

export const drain = {
  full: { backlogs: [10_000, 1_000_000], outageMinutes: 60, rowsPerSecond: 1_000 },
  short: { backlogs: [500] },

  run({ sizes }) {
    const { retry } = loadConfig(process.env, { database: false, kafka: false, http: false })
    const outageMs = sizes.outageMinutes * 60_000
    const rows = sizes.backlogs.flatMap((backlog) =>
      kinds.map((kind) => {
        const random = seeded(1)
        const { rowsPerSecond } = sizes
        const end = simulateDrain({ kind, rows: backlog, outageMs, rowsPerSecond, retry, random })
        const after = (share) => minutes(percentile(end.readyAt, share))
        return {
          backlog,
          outage: kind,
          'half ready, min': after(0.5),
          '99 % ready, min': after(0.99),
          'all ready, min': after(1),
          poison: end.poison,
          'tries per row': Number((end.attempts / backlog).toFixed(1)),
          'most tries in a cycle': end.mostInACycle,
        }
      }),
    )
    const title = `after an outage of ${sizes.outageMinutes} min, ${sizes.rowsPerSecond} rows/s (simulated)`
    const goals = rows.map(({ backlog, outage, poison }) =>
      below(`poison of ${backlog}, ${outage}`, 1, poison),
    )
    return Promise.resolve({ tables: [{ title, rows }], goals })
  },
}

function minutes(ms) {
  return Number((ms / 60_000).toFixed(1))
}

/** mulberry32: the same chance in each run. */
function seeded(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
