/** Brings dead letters back, in PostgreSQL, and deletes them for good. */

import { sql } from 'kysely'
import { storableText } from '../../jobs/storable-text.js'
import type { JobEdits, ResurrectResult } from '../operator-port.js'
import type { Executor } from './connections.js'

/** How often the holder of a key may vanish between the insert that met it and the look for it. */
const triesAtMost = 10

interface Answer {
  readonly dead: boolean
  readonly back: boolean
  readonly idempotency_key: string | null
}

/**
 * A dead letter is deleted only where its live row has been inserted: one whose key is taken, even by a
 * job that has committed this instant, stays.
 */
export async function resurrect(
  db: Executor,
  ids: readonly string[],
  request: { readonly by: string; readonly edits?: JobEdits | undefined },
  attempt = 1,
): Promise<readonly ResurrectResult[]> {
  const rows = await bringBack(db, ids, request)
  const results: ResurrectResult[] = []
  for (const [position, { dead, back, idempotency_key: key }] of rows.entries()) {
    if (back) results.push({ outcome: 'resurrected' })
    else if (!dead) results.push({ outcome: 'not-dead' })
    else {
      const by = await findHolder(db, key ?? '')
      const id = ids[position] ?? ''
      if (by !== undefined) results.push({ outcome: 'key-taken', by })
      else if (attempt < triesAtMost) {
        results.push(...(await resurrect(db, [id], request, attempt + 1)))
      } else {
        const error = new Error('holders of the idempotency key came and went')
        results.push({ outcome: 'refused', error })
      }
    }
  }
  return results
}

async function bringBack(
  db: Executor,
  ids: readonly string[],
  request: { readonly by: string; readonly edits?: JobEdits | undefined },
): Promise<readonly Answer[]> {
  const names = ids.map((id) => storableText(id))
  const { payload = null, tags, priority = null } = request.edits ?? {}
  const { rows } = await sql<Answer>`
    with item as materialized (
      -- Named twice, the second one finds what the first has made of it.
      select *, row_number() over (partition by id order by ord) = 1 as first
      from unnest(${names}::text[]) with ordinality as i (id, ord)
    ),
    dead as materialized (
      select d.* from chokaq.jobs_dlq d where d.id = any (${names}::text[])
      order by d.idempotency_key, d.id for update
    ),
    back as (
      insert into chokaq.jobs_hot (
        id, queue, type, payload, priority, idempotency_key, tags, checkpoint,
        created_by, modified_by, created_at
      )
      select id, queue, type, coalesce(${payload}::json, payload),
        coalesce(${priority}::smallint, priority), idempotency_key,
        coalesce(${tags ?? null}::text[], tags), checkpoint, created_by, ${request.by}, created_at
      from dead
      on conflict (idempotency_key) where idempotency_key is not null do nothing
      returning id
    ),
    gone as (delete from chokaq.jobs_dlq d using back where d.id = back.id)
    select dead.id is not null as dead, back.id is not null as back, dead.idempotency_key
    from item i left join back on back.id = i.id and i.first
      left join dead on dead.id = i.id and (i.first or dead.id not in (select id from back))
    order by i.ord
  `.execute(db)
  return rows
}

async function findHolder(db: Executor, key: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from chokaq.jobs_hot where idempotency_key = ${key}
  `.execute(db)
  return rows[0]?.id
}

/** Deletes dead letters; the number of those that were there. */
export async function purge(db: Executor, ids: readonly string[]): Promise<number> {
  const result = await sql`
    with dead as materialized (
      select id from chokaq.jobs_dlq where id = any (${ids}::text[]) order by id for update
    )
    delete from chokaq.jobs_dlq d using dead where d.id = dead.id
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}
