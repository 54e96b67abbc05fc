/** Enqueueing into PostgreSQL. */

import { sql, type RawBuilder } from 'kysely'
import { checkNewJob } from '../../jobs/check-job.js'
import type { NewJob } from '../../jobs/job.js'
import type { NewJobId } from '../../jobs/job-id.js'
import { limits } from '../../jobs/limits.js'
import type { Enqueued } from '../enqueue-port.js'
import { arrayLiteral } from './array-literal.js'
import type { Connections, Executor } from './connections.js'

/** A statement's parameters are held in memory on both sides: not more than this of them at a time. */
const chunkJobs = 1_000
const chunkCharacters = 4_000_000

/** How often a key's holder may vanish between the insert that met it and the look for it. */
const triesAtMost = 10

/** One job of the call that is to be stored, if no live job has its key. */
interface Entry {
  readonly id: string
  readonly job: NewJob
}

export async function enqueue(
  db: Connections,
  newId: NewJobId,
  jobs: readonly NewJob[],
  trx: Executor | undefined,
): Promise<readonly Enqueued[]> {
  jobs.forEach(checkNewJob)
  // The first of several jobs with one key stands for all of them.
  const byKey = new Map<string, Entry>()
  const entries = jobs.map((job) => {
    const key = job.idempotencyKey
    const entry = (key === undefined ? undefined : byKey.get(key)) ?? { id: newId(), job }
    if (key !== undefined) byKey.set(key, entry)
    return entry
  })
  const chunks = [...inChunks([...new Set(entries)].sort(byKeyOrder))]
  const stored = new Map<Entry, string>()
  const insertAll = async (executor: Executor): Promise<void> => {
    for (const chunk of chunks) await insertChunk(executor, chunk, stored)
  }
  if (trx !== undefined) await insertAll(trx)
  else if (chunks.length <= 1) await insertAll(db)
  else await db.transaction().execute(insertAll)

  const answered = new Set<Entry>()
  return entries.map((entry) => {
    const id = stored.get(entry) ?? entry.id
    const created = id === entry.id && !answered.has(entry)
    answered.add(entry)
    return { id, created }
  })
}

/** Two calls that wait for each other's keys meet them in the same order, and so never in a circle. */
function byKeyOrder(a: Entry, b: Entry): number {
  const [first = '', second = ''] = [a.job.idempotencyKey, b.job.idempotencyKey]
  if (first === second) return 0
  return first < second ? -1 : 1
}

function* inChunks(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let chunk: Entry[] = []
  let characters = 0
  for (const entry of entries) {
    const { length } = entry.job.payload
    if (chunk.length >= chunkJobs || (chunk.length > 0 && characters + length > chunkCharacters)) {
      yield chunk
      chunk = []
      characters = 0
    }
    chunk.push(entry)
    characters += length
  }
  if (chunk.length > 0) yield chunk
}

/** Stores what can be stored and finds who holds the keys of the rest, until nothing is left. */
async function insertChunk(
  executor: Executor,
  chunk: readonly Entry[],
  stored: Map<Entry, string>,
): Promise<void> {
  let open = chunk
  for (let attempt = 1; open.length > 0; attempt += 1) {
    const inserted = await insert(executor, open)
    for (const entry of open) if (inserted.has(entry.id)) stored.set(entry, entry.id)
    open = open.filter((entry) => !stored.has(entry))
    if (open.length === 0) return
    // A later statement, which sees the holder that the insert has met; unless it is gone again.
    const holders = await findHolders(executor, open)
    for (const entry of open) {
      const holder = holders.get(entry.job.idempotencyKey ?? '')
      if (holder !== undefined) stored.set(entry, holder)
    }
    open = open.filter((entry) => !stored.has(entry))
    if (attempt >= triesAtMost && open.length > 0) {
      throw new Error(
        'the holders of idempotency keys came and went faster than they could be read',
      )
    }
  }
}

/** What is told of each job beyond its id and its payload, and how it gets into the table. */
const columns = [
  { name: 'queue', type: 'text', of: ({ queue }: NewJob) => queue },
  { name: 'type', type: 'text', of: ({ type }: NewJob) => type },
  {
    name: 'priority',
    type: 'smallint',
    of: ({ priority }: NewJob) => priority ?? limits.priority.default,
  },
  { name: 'tags', type: 'text', of: ({ tags = [] }: NewJob) => arrayLiteral(tags) },
  { name: 'created_by', type: 'text', of: ({ createdBy }: NewJob) => createdBy ?? null },
  { name: 'delay_ms', type: 'float8', of: ({ delayMs }: NewJob) => delayMs ?? 0 },
  {
    name: 'idempotency_key',
    type: 'text',
    of: ({ idempotencyKey }: NewJob) => idempotencyKey ?? null,
  },
] as const

/** @returns the ids of those that were stored; the others' keys have holders */
async function insert(executor: Executor, entries: readonly Entry[]): Promise<Set<string>> {
  // Without keys nothing can be in the way: no conflict to look for, and no answer to wait for.
  const hasKeys = entries.some(({ job }) => job.idempotencyKey !== undefined)
  const unlessHeld = sql`
    on conflict (idempotency_key) where idempotency_key is not null do nothing returning id`
  const { rows } = await sql<{ id: string }>`
    insert into chokaq.jobs_hot (
      id, queue, type, payload, priority, idempotency_key, tags, created_by,
      scheduled_at, created_at, enqueued_at
    )
    select i.id, i.queue, i.type, i.payload::json, i.priority, i.idempotency_key,
      i.tags::text[], i.created_by,
      n.now + i.delay_ms * interval '1 millisecond', n.now,
      -- A wish to wait is no age: a job delayed by a week is as young as another when it is due.
      n.now + i.delay_ms * interval '1 millisecond'
    from (${jobRelation(entries)}) i, (select clock_timestamp() as now) n
    ${hasKeys ? unlessHeld : sql``}
  `.execute(executor)
  return new Set(hasKeys ? rows.map(({ id }) => id) : entries.map(({ id }) => id))
}

/** One row for each job. What all of them have alike, in bulk most of it, is said once. */
function jobRelation(entries: readonly Entry[]): RawBuilder<unknown> {
  const names = [sql`id`, sql`payload`]
  const arrays = [
    sql`${arrayLiteral(entries.map(({ id }) => id))}::text[]`,
    sql`${arrayLiteral(entries.map(({ job }) => job.payload))}::text[]`,
  ]
  const shared: RawBuilder<unknown>[] = []
  for (const { name, type, of } of columns) {
    const values = entries.map(({ job }) => of(job))
    const [first = null] = values
    if (values.every((value) => value === first)) {
      shared.push(sql`${first}::${sql.raw(type)} as ${sql.ref(name)}`)
    } else {
      names.push(sql.ref(name))
      arrays.push(sql`${arrayLiteral(values)}::${sql.raw(type)}[]`)
    }
  }
  return sql`
    select ${sql.join([sql`each.*`, ...shared])}
    from unnest(${sql.join(arrays)}) as each (${sql.join(names)})`
}

async function findHolders(
  executor: Executor,
  entries: readonly Entry[],
): Promise<Map<string, string>> {
  const keys = entries.map(({ job }) => job.idempotencyKey ?? null)
  const { rows } = await sql<{ idempotency_key: string; id: string }>`
    select idempotency_key, id from chokaq.jobs_hot where idempotency_key = any (${keys}::text[])
  `.execute(executor)
  return new Map(rows.map(({ idempotency_key, id }) => [idempotency_key, id]))
}
