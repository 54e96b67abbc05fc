/**
 * The retry core beside graphile-worker and pg-boss: no-op jobs per second at ten lanes, each as it comes
 * and each in its fastest setting; jobs enqueued per second, beside a bare insert into the same table; and
 * from the call that enqueues to the handler. The core keeps each job in its archive, the peers' settings
 * are in bench/jobs/peers.js.
 */

import pg from 'pg'
import { interleave } from './frame/interleave.js'
import { atLeast, rankedRows } from './frame/report.js'
import * as statistics from './frame/statistics.js'
import { bare, enqueuers } from './jobs/enqueue.js'
import { pickUpLatency } from './jobs/latency.js'
import { asItComes, best } from './jobs/throughput.js'

const ours = 'retry core'

export const jobs = {
  full: {
    rounds: 5,
    jobs: 10_000,
    best: 40_000,
    polled: 20,
    singles: 2_000,
    bulk: 20_000,
    calls: 200,
  },
  short: { rounds: 1, warmUps: 0, jobs: 40, best: 80, polled: 10, singles: 10, bulk: 40, calls: 5 },

  async run({ servers, sizes }) {
    const { url, drop } = await servers.database(['service'])
    const client = new pg.Client(url)
    await client.connect()
    const query = async (text, values) => (await client.query(text, values)).rows
    const rates = (contestants, size, ...more) =>
      interleave(contestants, sizes, async ({ run, jobs: own = size }) => {
        await query('checkpoint')
        return (1_000 * sizes[own]) / (await run(url, sizes[own], query, ...more))
      })
    const figures = {
      asItComes: await rates(asItComes, 'jobs'),
      best: await rates(best, 'best'),
      singly: await rates(enqueuers, 'singles', false),
      inBulk: await rates(enqueuers, 'bulk', true),
    }
    const waits = await interleave(pickUpLatency, sizes, ({ run, share }) =>
      run(url, Math.ceil(sizes.calls * share)),
    )
    await client.end()
    await drop()
    return {
      tables: [
        { title: 'no-op jobs/s, 10 lanes, as it comes', rows: ranked(figures.asItComes, ours) },
        { title: 'no-op jobs/s, 10 lanes, fastest setting', rows: ranked(figures.best, ours) },
        { title: 'enqueued/s, one by one', rows: ranked(figures.singly, bare) },
        { title: 'enqueued/s, 1,000 at a time', rows: ranked(figures.inBulk, bare) },
        { title: 'pick-up, ms', rows: Object.entries(waits).map(percentiles) },
      ],
      goals: [
        atLeast('no-op jobs beside each peer, as it comes', 1, besideThePeers(figures.asItComes)),
        atLeast(
          'no-op jobs beside the best peer at its fastest',
          0.6,
          besideThePeers(figures.best),
        ),
        atLeast('enqueue one by one beside a bare insert', 0.6, besideBare(figures.singly)),
        atLeast('enqueue in bulk beside a bare insert', 0.6, besideBare(figures.inBulk)),
      ],
    }
  },
}

const ranked = (figures, base) => rankedRows(figures, base, statistics)

const besideBare = (figures) => statistics.ratio(figures[ours], figures[bare])

function besideThePeers({ [ours]: own, ...peers }) {
  return Math.min(...Object.values(peers).map((figures) => statistics.ratio(own, figures)))
}

function percentiles([who, rounds]) {
  const all = rounds.flat()
  const at = (share) => Number(statistics.percentile(all, share).toFixed(2))
  return { who, p50: at(0.5), p99: at(0.99) }
}
