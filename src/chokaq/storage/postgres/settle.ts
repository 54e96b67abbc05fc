/** What becomes of a job that a worker holds: one statement for a batch of each kind of outcome. */

import { sql } from 'kysely'
import type { Lease } from '../../jobs/job.js'
import { limits } from '../../jobs/limits.js'
import { storableDelayMs, storableDurationMs } from '../../jobs/storable-number.js'
import { storableText } from '../../jobs/storable-text.js'
import type { MoveResult, RetryResult, WorkerPort } from '../worker-port.js'
import type { Executor } from './connections.js'
import { archive, bury, count } from './ending.js'
import { isHeld, itemRelation, startsOf } from './lease-items.js'

type Items<M extends 'succeed' | 'retry' | 'deadLetter' | 'giveBack'> = Parameters<WorkerPort[M]>[0]

interface Answer {
  readonly moved: boolean
  readonly cancelled?: boolean
}

const toResult = ({ moved }: Answer): MoveResult => ({ outcome: moved ? 'moved' : 'stale' })

const toRetryResult = (answer: Required<Answer>): RetryResult =>
  answer.cancelled ? { outcome: 'cancelled' } : toResult(answer)

/** Attempts to give back. */
const refund = {
  name: 'refund',
  type: 'smallint',
  value: ({ refundAttempt }: { readonly refundAttempt?: boolean | undefined }) =>
    refundAttempt === true ? 1 : 0,
} as const

const detailsOf = (text: string): string => storableText(text, limits.detailsLength)

export async function succeed(
  db: Executor,
  items: Items<'succeed'>,
): Promise<readonly MoveResult[]> {
  const columns = [
    {
      name: 'duration_ms',
      type: 'float8',
      value: ({ durationMs }: Items<'succeed'>[number]) => storableDurationMs(durationMs),
    },
  ] as const
  const { rows } = await sql<Answer>`
    with ${itemRelation(items, columns)},
    held as materialized (
      select i.ord, h.id, i.duration_ms from chokaq.jobs_hot h join item i on ${isHeld}
      where h.state = 2 order by h.id for update of h
    ),
    gone as (
      delete from chokaq.jobs_hot h using held where h.id = held.id
      returning h.*, held.duration_ms
    ),
    moved as (${archive('gone')}),
    counted as (${count(sql`select queue, 'succeeded', duration_ms from moved`)})
    -- A hashed set and no join, which the planner would make a nested loop over the whole batch.
    select (i.id, i.owner, i.token) in (select g.id, g.owner, g.token from gone g) or exists (
        select from chokaq.jobs_archive a
        where a.id = i.id and a.owner = i.owner and a.token = i.token
      ) as moved
    from item i order by i.ord
  `.execute(db)
  return rows.map(toResult)
}

export async function retry(db: Executor, items: Items<'retry'>): Promise<readonly RetryResult[]> {
  type Item = Items<'retry'>[number]
  const columns = [
    {
      name: 'delay_ms',
      type: 'float8',
      value: ({ delayMs }: Item) => storableDelayMs(delayMs),
    },
    { name: 'error', type: 'text', value: ({ error }: Item) => detailsOf(error) },
    refund,
  ] as const
  const { rows } = await sql<Required<Answer>>`
    with ${itemRelation(items, columns)},
    held as materialized (
      select i.ord, h.id, i.delay_ms, i.error, i.refund, h.cancel_requested_by as by, h.cancel_reason
      from chokaq.jobs_hot h join item i on ${isHeld}
      where h.state = 2 order by h.id for update of h
    ),
    back as (
      update chokaq.jobs_hot h
      set state = 0, owner = null, heartbeat_at = null, progress = null, last_error = held.error,
        attempts = h.attempts - held.refund,
        scheduled_at = clock_timestamp() + held.delay_ms * interval '1 millisecond'
      from held where h.id = held.id and held.by is null
      returning h.id, h.queue, held.refund
    ),
    gone as (
      delete from chokaq.jobs_hot h using held where h.id = held.id and held.by is not null
      returning h.*, null::float8 as duration_ms, 'Cancelled' as reason, held.refund,
        left(format(E'cancelled by %s: %s\\n%s', held.by, held.cancel_reason, held.error),
          ${limits.detailsLength}) as details
    ),
    ended as (${bury('gone', sql`attempts - refund`)}),
    counted as (${count(sql`
      select queue, 'retried', 0::float8 from back where refund = 0
      union all select queue, 'failed', 0 from ended`)})
    select back.id is not null or exists (
        select from chokaq.jobs_hot h where h.id = i.id and h.state = 0 and h.token = i.token
      ) as moved,
      ended.id is not null or exists (
        select from chokaq.jobs_dlq d
        where d.id = i.id and d.token = i.token and d.reason = 'Cancelled'
      ) as cancelled
    from item i left join held using (ord) left join back on back.id = held.id
      left join ended on ended.id = held.id
    order by i.ord
  `.execute(db)
  return rows.map(toRetryResult)
}

export async function deadLetter(
  db: Executor,
  items: Items<'deadLetter'>,
): Promise<readonly MoveResult[]> {
  type Item = Items<'deadLetter'>[number]
  const columns = [
    { name: 'reason', type: 'text', value: ({ reason }: Item) => reason },
    { name: 'details', type: 'text', value: ({ details }: Item) => detailsOf(details) },
    {
      name: 'duration_ms',
      type: 'float8',
      value: ({ durationMs }: Item) =>
        durationMs === undefined ? null : storableDurationMs(durationMs),
    },
    refund,
  ] as const
  const { rows } = await sql<Answer>`
    with ${itemRelation(items, columns)},
    held as materialized (
      select i.ord, h.id, i.reason, i.details, i.duration_ms, i.refund
      from chokaq.jobs_hot h join item i on ${isHeld}
      where h.state in (1, 2) order by h.id for update of h
    ),
    gone as (
      delete from chokaq.jobs_hot h using held where h.id = held.id
      returning h.*, held.reason, held.details, held.duration_ms, held.refund
    ),
    moved as (${bury('gone', sql`attempts - ${startsOf} * refund`)}),
    counted as (${count(sql`select queue, 'failed', 0::float8 from moved`)})
    select m.id is not null or exists (
        select from chokaq.jobs_dlq d
        where d.id = i.id and d.token = i.token and d.reason = i.reason
      ) as moved
    from item i left join held using (ord) left join moved m on m.id = held.id order by i.ord
  `.execute(db)
  return rows.map(toResult)
}

export async function giveBack(
  db: Executor,
  items: readonly { readonly lease: Lease; readonly delayMs?: number | undefined }[],
): Promise<readonly RetryResult[]> {
  type Item = Items<'giveBack'>[number]
  const columns = [
    {
      name: 'delay_ms',
      type: 'float8',
      value: ({ delayMs }: Item) => (delayMs === undefined ? null : storableDelayMs(delayMs)),
    },
  ] as const
  const { rows } = await sql<Required<Answer>>`
    with ${itemRelation(items, columns)},
    held as materialized (
      select i.ord, h.id, i.delay_ms, h.cancel_requested_by as by, h.cancel_reason
      from chokaq.jobs_hot h join item i on ${isHeld}
      where h.state in (1, 2) order by h.id for update of h
    ),
    back as (
      update chokaq.jobs_hot h
      set state = 0, owner = null, heartbeat_at = null, progress = null,
        attempts = attempts - ${startsOf},
        scheduled_at = coalesce(
          clock_timestamp() + held.delay_ms * interval '1 millisecond', h.scheduled_at)
      from held where h.id = held.id and held.by is null
      returning h.id
    ),
    gone as (
      delete from chokaq.jobs_hot h using held where h.id = held.id and held.by is not null
      returning h.*, null::float8 as duration_ms, 'Cancelled' as reason,
        left(format('cancelled by %s: %s', held.by, held.cancel_reason), ${limits.detailsLength})
          as details
    ),
    ended as (${bury('gone', sql`attempts - ${startsOf}`)}),
    counted as (${count(sql`select queue, 'failed', 0::float8 from ended`)})
    select back.id is not null or exists (
        select from chokaq.jobs_hot h where h.id = i.id and h.state = 0 and h.token = i.token
      ) as moved,
      ended.id is not null as cancelled
    from item i left join held using (ord) left join back on back.id = held.id
      left join ended on ended.id = held.id
    order by i.ord
  `.execute(db)
  return rows.map(toRetryResult)
}
