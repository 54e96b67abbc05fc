/** Counts of what has ended: per second for a while, and in total for ever. */

import type { MetricBucket, Totals } from '../reading-port.js'

/** Beyond this the oldest are folded unasked: an hour of seconds of a few queues. */
const maxBuckets = 10_000

export interface EndedJob {
  readonly queue: string
  readonly what: 'succeeded' | 'failed' | 'retried'
  readonly durationMs?: number
}

export interface MemoryMetrics {
  count(nowMs: number, ended: EndedJob): void
  /** Adds up to `limit` buckets from before `beforeMs` to the totals; their number. */
  fold(beforeMs: number, limit: number): number
  /** @param stepMs the seconds of one step are summed up */
  since(ms: number, stepMs?: number): readonly MetricBucket[]
  totals(): readonly Totals[]
}

const nothing = { succeeded: 0, failed: 0, retried: 0, durationMs: 0 }
const counted = Object.keys(nothing) as (keyof typeof nothing)[]

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export function createMemoryMetrics(): MemoryMetrics {
  // In order of time, for the clock never goes back by more than it matters here.
  const buckets = new Map<string, Mutable<MetricBucket>>()
  const folded = new Map<string, Mutable<Totals>>()

  const addTo = (totals: Map<string, Mutable<Totals>>, bucket: MetricBucket): void => {
    const { queue } = bucket
    const sum = totals.get(queue) ?? { queue, succeeded: 0, failed: 0, retried: 0 }
    sum.succeeded += bucket.succeeded
    sum.failed += bucket.failed
    sum.retried += bucket.retried
    totals.set(queue, sum)
  }

  const fold = (beforeMs: number, limit: number): number => {
    let done = 0
    for (const [key, bucket] of buckets) {
      if (done >= limit) break
      if (bucket.atMs >= beforeMs) continue
      addTo(folded, bucket)
      buckets.delete(key)
      done += 1
    }
    return done
  }

  return {
    count(nowMs, { queue, what, durationMs = 0 }) {
      const atMs = Math.floor(nowMs / 1_000) * 1_000
      const key = `${atMs} ${queue}`
      let bucket = buckets.get(key)
      if (bucket === undefined) {
        bucket = { ...nothing, atMs, queue }
        buckets.set(key, bucket)
        if (buckets.size > maxBuckets) fold(Infinity, 1)
      }
      bucket[what] += 1
      if (what === 'succeeded') bucket.durationMs += durationMs
    },
    fold,
    since(ms, stepMs = 1_000) {
      const steps = new Map<string, Mutable<MetricBucket>>()
      for (const bucket of buckets.values()) {
        if (bucket.atMs < ms) continue
        const atMs = Math.floor(bucket.atMs / stepMs) * stepMs
        const key = `${atMs} ${bucket.queue}`
        const step = steps.get(key) ?? { ...nothing, atMs, queue: bucket.queue }
        for (const what of counted) step[what] += bucket[what]
        steps.set(key, step)
      }
      return [...steps.values()].sort((a, b) => a.atMs - b.atMs || compare(a.queue, b.queue))
    },
    totals() {
      const totals = new Map([...folded].map(([queue, sum]) => [queue, { ...sum }]))
      for (const bucket of buckets.values()) addTo(totals, bucket)
      return [...totals.values()].sort((a, b) => compare(a.queue, b.queue))
    },
  }
}

/** By code unit, as the database compares with collation "C". */
export function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
