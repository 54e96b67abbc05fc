/** Judges a soak: does anything grow, in memory, descriptors or latency, from one half to the other? */

import { median } from '../frame/statistics.js'
import { below } from '../frame/report.js'

/** Caches fill, the compiler warms up, tables and retention reach their level. */
const warmUpSeconds = 600
const warmUpShare = 1 / 6
/** A minute is calm where no fault was under way in it, nor in this time before it. */
const recoverySeconds = 60
/** As long as from one fault to the next, and long beside the time between two collections. */
const floorSeconds = 240

export function judge({ seconds, samples, minutes, inflicted, losses }) {
  const warm = Math.min(warmUpSeconds, seconds * warmUpShare)
  const part = (from, to) => samples.filter(({ at }) => at >= from * seconds && at < to * seconds)
  const [third, fourth, secondHalf] = [part(0.5, 0.75), part(0.75, 1), part(0.5, 1)]
  const calm = minutes.filter(({ minute }) => isCalm(minute, inflicted))
  const middle = (warm + seconds) / 2
  const calmIn = (from, to) => calm.filter(({ minute }) => minute * 60 > from && minute * 60 <= to)
  const [early, late] = [calmIn(warm, middle), calmIn(middle, seconds)]
  const latency = (name) => median(valuesOf(late, name)) / median(valuesOf(early, name))
  const calmSamples = secondHalf.filter(({ at }) => isCalm(Math.ceil(at / 60), inflicted))

  const rows = [
    ['RSS, MB', 'rssMb'],
    ['heap in use, MB', 'heapUsedMb'],
    ['heap, MB', 'heapTotalMb'],
    ['outside of the heap, MB', 'externalMb'],
    ['file descriptors', 'descriptors'],
    ['handles of the event loop', 'handles'],
    ['sessions at PostgreSQL', 'sessions'],
    ['event-loop delay p99, ms', 'loopP99Ms'],
    ['CPU, %', 'cpuPercent'],
    ['oldest due row, s', 'dueAgeSeconds'],
    ['rows in the outbox', 'outboxRows'],
    ['load of the machine', 'machineLoad'],
  ].map(([what, name]) => ({
    mean: what,
    '1st quarter': rounded(mean(valuesOf(part(0, 0.25), name))),
    '2nd': rounded(mean(valuesOf(part(0.25, 0.5), name))),
    '3rd': rounded(mean(valuesOf(third, name))),
    '4th': rounded(mean(valuesOf(fourth, name))),
  }))
  const latencies = [
    ['calm minutes before the middle', early],
    ['calm minutes after it', late],
  ]
    .filter(([, of]) => of.length > 0)
    .map(([which, of]) => ({
      'from the event to its acknowledgement': which,
      minutes: of.length,
      'p50, ms': rounded(median(valuesOf(of, 'p50Ms'))),
      'p99, ms': rounded(median(valuesOf(of, 'p99Ms'))),
    }))
  return {
    tables: [
      { title: `serve over ${Math.round(seconds / 60)} minutes`, rows },
      { title: 'latency, medians over minutes', rows: latencies },
    ].filter(({ rows: found }) => found.length > 0),
    // A run that is too short for calm minutes has nothing to judge them by.
    goals: [
      below('faults in deals and events', 1, losses.faults.length),
      below(
        '% that RSS grows from the third quarter to the last',
        5,
        growth(third, fourth, 'rssMb'),
      ),
      below('% that RSS grows over the second half, by its trend', 5, trend(secondHalf, 'rssMb')),
      below(
        "% that the heap's floor grows, likewise",
        5,
        trend(floorsOf(secondHalf), 'heapUsedMb'),
      ),
      below(
        '% that descriptors grow in calm minutes, likewise',
        5,
        trend(calmSamples, 'descriptors'),
      ),
      below(
        'times the latency of calm minutes before the middle, after it: p50',
        1.5,
        latency('p50Ms'),
      ),
      below('the same, p99', 2, latency('p99Ms')),
    ].filter(({ figure }) => Number.isFinite(figure)),
  }
}

/**
 * The least heap in use in each stretch of four minutes: what lives. In between it rises by what is yet to be
 * collected, up and down by half, so its mean tells when collections happened to be.
 */
function floorsOf(samples) {
  const stretches = new Map()
  for (const sample of samples.filter(({ heapUsedMb }) => Number.isFinite(heapUsedMb))) {
    const stretch = Math.floor(sample.at / floorSeconds)
    const least = stretches.get(stretch)
    if (least === undefined || sample.heapUsedMb < least.heapUsedMb) stretches.set(stretch, sample)
  }
  return [...stretches.values()]
}

export function isCalm(minute, inflicted) {
  const [from, to] = [(minute - 1) * 60 - recoverySeconds, minute * 60]
  return inflicted.every((fault) => fault.to < from || fault.from > to)
}

/** What was not to be had at the time, as from a frozen process, is left out. */
function valuesOf(records, name) {
  return records.map((record) => record[name]).filter((value) => Number.isFinite(value))
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

function growth(before, after, name) {
  return 100 * (mean(valuesOf(after, name)) / mean(valuesOf(before, name)) - 1)
}

/** Theil and Sen: the median of the slopes between all pairs, which no single fault bends. */
function trend(samples, name) {
  const points = samples.filter((sample) => Number.isFinite(sample[name]))
  const slopes = points.flatMap((a, n) =>
    points.slice(n + 1).map((b) => (b[name] - a[name]) / (b.at - a.at)),
  )
  const seconds = points.length === 0 ? 0 : points.at(-1).at - points[0].at
  return (100 * median(slopes) * seconds) / median(points.map((point) => point[name]))
}

function rounded(value) {
  return Number(value.toPrecision(3))
}
