/** Finds jobs whose owner has fallen silent, in PostgreSQL. */

import { sql, type RawBuilder } from 'kysely'
import { checkLimit } from '../check-fetch.js'
import type { RescueRequest, RescueResult, RescuedJob } from '../maintenance-port.js'
import { zombieDetails } from '../zombie-details.js'
import type { Executor } from './connections.js'
import { bury, count } from './ending.js'
import { isRefusal } from './item-by-item.js'

/** What one statement rescues: those silent, up to a number, or one of them by its id. */
type Rescue = (db: Executor, which: RawBuilder<unknown>) => Promise<readonly RescuedJob[]>

/**
 * Passes of several instances at once share the work: each skips what another one has locked, and locks
 * in the order of ids, so that none waits for another.
 */
export async function rescue(db: Executor, request: RescueRequest): Promise<RescueResult> {
  checkLimit(request.limit)
  const refused: (RescuedJob & { readonly error: unknown })[] = []
  const isUnstarted = sql`h.owner is not null and h.state = 1 and ${isSilent(sql`${request.fetchedTimeoutMs}::float8`)}`
  const ownTimeout = sql`coalesce(
    (select q.zombie_timeout_ms from chokaq.queues q where q.name = h.queue),
    ${request.zombieTimeoutMs}::float8)`
  const isZombie = sql`h.owner is not null and h.state = 2 and ${isSilent(ownTimeout)}`
  const givenBack = await rescueAll(db, request.limit, isUnstarted, giveBack, refused)
  const zombies = await rescueAll(db, request.limit, isZombie, buryZombies, refused)
  return { givenBack, zombies, refused }
}

const isSilent = (timeoutMs: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`h.heartbeat_at < statement_timestamp() - ${timeoutMs} * interval '1 millisecond'`

/** All in one statement; where that is refused on account of one of them, each by itself. */
async function rescueAll(
  db: Executor,
  limit: number,
  isLost: RawBuilder<unknown>,
  move: Rescue,
  refused: (RescuedJob & { readonly error: unknown })[],
): Promise<readonly RescuedJob[]> {
  try {
    return await move(db, sql`${isLost} order by h.id limit ${limit}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  const { rows: lost } = await sql<RescuedJob>`
    select h.id, h.type, h.queue, h.owner from chokaq.jobs_hot h where ${isLost} order by h.id
  `.execute(db)
  const rescued: RescuedJob[] = []
  for (const job of lost) {
    if (rescued.length >= limit) break
    try {
      rescued.push(...(await move(db, sql`${isLost} and h.id = ${job.id}`)))
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused.push({ ...job, error })
    }
  }
  return rescued
}

const giveBack: Rescue = async (db, which) => {
  const { rows } = await sql<RescuedJob>`
    with silent as materialized (
      select h.id, h.owner from chokaq.jobs_hot h where ${which} for update of h skip locked
    )
    update chokaq.jobs_hot h
    set state = 0, owner = null, token = null, heartbeat_at = null
    from silent where h.id = silent.id
    returning h.id, h.type, h.queue, silent.owner
  `.execute(db)
  return rows
}

const buryZombies: Rescue = async (db, which) => {
  const [before, after = ''] = zombieDetails('\0').split('\0')
  const { rows } = await sql<RescuedJob>`
    with silent as materialized (
      select h.id from chokaq.jobs_hot h where ${which} for update of h skip locked
    ),
    gone as (
      delete from chokaq.jobs_hot h using silent where h.id = silent.id
      returning h.*, null::float8 as duration_ms, 'Zombie' as reason,
        ${before}::text || h.owner || ${after}::text as details
    ),
    moved as (${bury('gone')}),
    counted as (${count(sql`select queue, 'failed', 0::float8 from moved`)})
    select id, type, queue, owner from moved
  `.execute(db)
  return rows
}
