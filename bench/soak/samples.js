/** What the measured process takes, and how it serves, every ten seconds; latency minute by minute. */

import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { maxAttempts } from './world.js'

export const sampleSeconds = 10
/** Events of a minute are looked at when it has been over for so long; later ones count as that late. */
const settleMs = 60_000
/** A probe older than this is of a process that stands still. */
const probeAgeMs = 12_000

/** @param now seconds since the start */
export function startSampling(world, now) {
  const stopping = new globalThis.AbortController()
  const samples = []
  const minutes = []
  const work = sampleUntil(world, now, { samples, minutes }, stopping.signal)
  return {
    samples,
    minutes,
    stop() {
      stopping.abort()
      return work
    },
  }
}

async function sampleUntil(world, now, { samples, minutes }, signal) {
  const startedAt = Date.now() - 1_000 * now()
  let before
  for (let n = 1; !signal.aborted; n += 1) {
    const due = startedAt + n * sampleSeconds * 1_000
    await delay(Math.max(0, due - Date.now()), undefined, { signal }).catch(() => undefined)
    if (world.serve.hasExited()) throw new Error('serve has ended')
    const at = now()
    const usage = await world.serve.usage()
    const cpuPercent =
      before === undefined
        ? null
        : (100 * (usage.cpuSeconds - before.cpuSeconds)) / (at - before.at)
    before = { at, cpuSeconds: usage.cpuSeconds }
    samples.push({
      at: Math.round(at),
      rssMb: usage.rssMb,
      descriptors: usage.descriptors,
      cpuPercent,
      machineLoad: loadavg()[0],
      ...probeOf(world),
      ...(await lookAtDatabase(world.db)),
    })
    const next = minutes.length + 1
    if (Date.now() >= startedAt + next * 60_000 + settleMs) {
      const minute = await latencyOf(world.db, new Date(startedAt + (next - 1) * 60_000))
      if (minute !== undefined) minutes.push({ minute: next, ...minute })
    }
  }
}

function probeOf({ probed }) {
  if (probed === undefined || Date.now() - probed.at > probeAgeMs) return {}
  return Object.fromEntries(Object.entries(probed).filter(([name]) => name !== 'at'))
}

/** Nothing where the database is away. */
async function lookAtDatabase(db) {
  try {
    const { rows } = await sql`
      select
        (select count(*)::int from pg_stat_activity
          where application_name like 'chat-provision-retry%') as "sessions",
        (select count(*)::int from messenger.deal_chat_provisions where status = 'Ready') as "ready",
        (select coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0)::float8
          from messenger.deal_chat_provisions where status = 'Failed' and attempts < ${maxAttempts}
            and next_attempt_at <= clock_timestamp()) as "dueAgeSeconds",
        (select count(*)::int from messenger.outbox_events
          where published_at is null and superseded_at is null and skipped_at is null) as "backlog",
        (select count(*)::int from messenger.outbox_events) as "outboxRows"
    `.execute(db)
    return rows[0]
  } catch {
    return {}
  }
}

/** Milliseconds from an event's writing to its mark, which follows the broker's acknowledgement. */
async function latencyOf(db, from) {
  try {
    const { rows } = await sql`
      with latency as (
        select 1000 * extract(epoch from coalesce(published_at, clock_timestamp()) - occurred_at) as ms
        from messenger.outbox_events
        where occurred_at >= ${from} and occurred_at < ${from}::timestamptz + interval '1 minute'
      )
      select count(*)::int as events, percentile_cont(0.5) within group (order by ms)::float8 as "p50Ms",
        percentile_cont(0.99) within group (order by ms)::float8 as "p99Ms"
      from latency
    `.execute(db)
    return rows[0]
  } catch {
    // The next sample asks again.
    return undefined
  }
}
