/** Lists, filters and counts, in memory. */

import type { Place } from '../../kernel/job-state.js'
import { checkQuery } from '../check-query.js'
import type { JobFilter, JobQuery } from '../job-filter.js'
import { decodeCursor, encodeCursor } from '../list-cursor.js'
import type { JobPage, QueueStatus } from '../reading-port.js'
import { toRecord } from './memory-jobs.js'
import { compare } from './memory-metrics.js'
import { unlimited, type MemoryTables, type StoredJob } from './memory-tables.js'

export function matching(tables: MemoryTables, place: Place, filter: JobFilter): StoredJob[] {
  return [...tables.tables[place].values()].filter((job) => matches(job, filter))
}

function matches(job: StoredJob, filter: JobFilter): boolean {
  const text = (job.details ?? job.lastError ?? '').toLowerCase()
  return (
    equals(filter.queue, job.queue) &&
    equals(filter.type, job.type) &&
    equals(filter.createdBy, job.createdBy) &&
    equals(filter.idempotencyKey, job.idempotencyKey) &&
    (filter.states?.includes(job.state) ?? true) &&
    (filter.tag === undefined || job.tags.includes(filter.tag)) &&
    (filter.reasons === undefined ||
      (job.reason !== undefined && filter.reasons.includes(job.reason))) &&
    (filter.errorContains === undefined || text.includes(filter.errorContains.toLowerCase())) &&
    between(job.createdAtMs, filter.createdAfterMs, filter.createdBeforeMs) &&
    between(job.finishedAtMs, filter.finishedAfterMs, filter.finishedBeforeMs)
  )
}

function equals(wanted: string | undefined, value: string | undefined): boolean {
  return wanted === undefined || wanted === value
}

/** From `after` on, and before `before`; a time that isn't there lies between nothing. */
function between(
  time: number | undefined,
  after: number | undefined,
  before: number | undefined,
): boolean {
  if (after === undefined && before === undefined) return true
  return time !== undefined && time >= (after ?? 0) && time < (before ?? Infinity)
}

export function list(tables: MemoryTables, query: JobQuery): JobPage {
  checkQuery(query)
  const hasFinished = query.place !== 'hot'
  const finishedAt = (job: StoredJob): number => (hasFinished ? (job.finishedAtMs ?? 0) : 0)
  const newestFirst = (a: StoredJob, b: StoredJob): number =>
    finishedAt(b) - finishedAt(a) || compare(b.id, a.id)
  let found = matching(tables, query.place, query.filter ?? {}).sort(newestFirst)
  if (query.cursor !== undefined) {
    const position = decodeCursor(query.cursor, hasFinished)
    const time = Number(position.finishedAt ?? 0)
    found = found.filter(
      (job) =>
        finishedAt(job) < time || (finishedAt(job) === time && compare(job.id, position.id) < 0),
    )
  }
  const page = found.slice(0, query.limit)
  const last = found.length > query.limit ? page.at(-1) : undefined
  return {
    items: page.map(toRecord),
    nextCursor:
      last === undefined
        ? undefined
        : encodeCursor({
            id: last.id,
            finishedAt: hasFinished ? String(finishedAt(last)) : undefined,
          }),
  }
}

export function queues(tables: MemoryTables): readonly QueueStatus[] {
  const now = tables.now()
  const found = new Map<string, { -readonly [K in keyof QueueStatus]: QueueStatus[K] }>()
  const of = (name: string) => {
    const status = found.get(name) ?? {
      name,
      settings: tables.queues.get(name) ?? unlimited,
      due: 0,
      scheduled: 0,
      fetched: 0,
      processing: 0,
      dead: 0,
      lagSeconds: 0,
    }
    found.set(name, status)
    return status
  }
  for (const name of tables.queues.keys()) of(name)
  for (const job of tables.tables.hot.values()) {
    const status = of(job.queue)
    if (job.state === 'Fetched') status.fetched += 1
    else if (job.state === 'Processing') status.processing += 1
    else if (job.dueAtMs > now) status.scheduled += 1
    else {
      status.due += 1
      status.lagSeconds = Math.max(status.lagSeconds, (now - job.dueAtMs) / 1_000)
    }
  }
  for (const job of tables.tables.dlq.values()) of(job.queue).dead += 1
  return [...found.values()].sort((a, b) => compare(a.name, b.name))
}
