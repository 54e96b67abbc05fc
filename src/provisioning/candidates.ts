/**
 * Which rows are due, read unlocked, and the lock under which each is checked again.
 *
 * All times are the database's: AsOf is read once per cycle, as text, for a Date would lose its
 * microseconds and with them the row that was written in this very millisecond.
 */

import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import type { Member } from './guards.js'
import { membersAtMost } from './guards.js'
import { isOpen, openLevels, type OpenLevel } from './open-levels.js'

/** What makes a row due, at one moment. */
export interface DueAt {
  /** timestamptz as text. */
  readonly asOf: string
  readonly stuckProvisioningAfterMs: number
  readonly maxAttempts: number
}

export interface Candidate {
  readonly id: string
  readonly dealId: string
  readonly title: string
  readonly dealTenantId: string | null
  readonly status: ProvisionStatus
  readonly attempts: number
  /** timestamptz as text; with the id, the place in the cycle's order. */
  readonly nextAttemptAt: string
  /** The row's version: changes with every write, whoever writes. */
  readonly xmin: string
}

/** A row under lock, with what provisioning needs. */
export interface ClaimedProvision {
  readonly id: string
  readonly dealId: string
  /** Null until a chat was made; the event of a failure tells it. */
  readonly chatId: string | null
  readonly title: string
  readonly projectId: string | null
  readonly dealTenantId: string | null
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  /** timestamptz as text, as is updatedAt. */
  readonly nextAttemptAt: string
  readonly updatedAt: string
  /** As a candidate's. */
  readonly xmin: string
  /** By user id; one more than may be at the most, so that too many can be told. */
  readonly members: readonly Member[]
}

const candidateColumns = sql`p.id, p.deal_id as "dealId", p.title, p.deal_tenant_id as "dealTenantId",
  p.status, p.attempts, p.next_attempt_at::text as "nextAttemptAt", p.xmin::text as xmin`

/** The moment by the database's clock, RFC 3339 in UTC with microseconds. */
export async function readAsOf(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ as_of: string }>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as as_of
  `.execute(db)
  const asOf = rows[0]?.as_of
  if (asOf === undefined) throw new Error('the database gave no time')
  return asOf
}

const stuckBefore = (at: DueAt): RawBuilder<unknown> =>
  sql`${at.asOf}::timestamptz - ${at.stuckProvisioningAfterMs}::float8 * interval '1 millisecond'`

/** The predicate of a due row, the same for reading and for checking again under the lock. */
const isDue = (at: DueAt): RawBuilder<unknown> => sql`
  (p.status = 'Failed' or (p.status = 'Provisioning' and p.updated_at <= ${stuckBefore(at)}))
  and p.next_attempt_at <= ${at.asOf}::timestamptz
  and p.attempts < ${at.maxAttempts}::int`

/**
 * The levels that candidates are read by, one look-up for each. Once a cycle: a row that comes to another
 * one later is due after AsOf, or was not committed by then, and is the next cycle's.
 */
export async function readDueLevels(db: Kysely<Database>, at: DueAt): Promise<OpenLevel[]> {
  const { rows } = await sql<OpenLevel>`
    with recursive ${openLevels(at.maxAttempts)}
    select status, attempts from level where attempts is not null
  `.execute(db)
  return rows
}

/**
 * The next rows in the order (next_attempt_at, id), strictly after `after`. The place only moves
 * forward, so a row is met once in a cycle whatever its outcome, and rows that always fail can't hide
 * those behind them.
 *
 * A single range of an index can't have both "attempts left" and the order: poison rows, which stay
 * Failed and due for ever, would be walked over at each read. So each level is probed by itself, and what
 * the probes give, a batch each at the most, is merged. Each begins at the place, so what this cycle has
 * worked off, and can't be vacuumed while somebody holds an old snapshot, is not passed over again.
 */
export async function readDueCandidates(
  db: Kysely<Database>,
  at: DueAt,
  levels: readonly OpenLevel[],
  after: Candidate | undefined,
  limit: number,
): Promise<Candidate[]> {
  if (levels.length === 0) return []
  const place =
    after === undefined
      ? sql`true`
      : sql`(p.next_attempt_at, p.id) > (${after.nextAttemptAt}::timestamptz, ${after.id}::uuid)`
  const { rows } = await sql<Candidate>`
    select due.*
    from unnest(
      ${levels.map(({ status }) => status)}::text[],
      ${levels.map(({ attempts }) => attempts)}::int[]
    ) level (status, attempts)
    cross join lateral (
      select ${candidateColumns}
      from messenger.deal_chat_provisions p
      where p.status = level.status and ${isOpen} and p.attempts = level.attempts
        and ${isDue(at)} and ${place}
      order by p.next_attempt_at, p.id
      limit ${limit}
    ) due
    order by "nextAttemptAt"::timestamptz, id
    limit ${limit}
  `.execute(db)
  return rows
}

/** Reads one cycle's candidates, batch by batch; the levels are looked for at the first. */
export function createDueReader(
  db: Kysely<Database>,
  at: DueAt,
  limit: number,
): (after: Candidate | undefined) => Promise<Candidate[]> {
  let levels: readonly OpenLevel[] | undefined
  return async (after) => {
    levels ??= await readDueLevels(db, at)
    return readDueCandidates(db, at, levels, after, limit)
  }
}

/**
 * Rows found in Provisioning that have no attempts left: their worker died, or the limit was lowered.
 * In the order of ix_dcp_open, strictly after `after`.
 */
export async function readExhaustedCandidates(
  db: Kysely<Database>,
  at: DueAt,
  after: Candidate | undefined,
  limit: number,
): Promise<Candidate[]> {
  const place =
    after === undefined
      ? sql`true`
      : sql`(p.attempts, p.next_attempt_at, p.id) >
          (${after.attempts}::int, ${after.nextAttemptAt}::timestamptz, ${after.id}::uuid)`
  const { rows } = await sql<Candidate>`
    select ${candidateColumns}
    from messenger.deal_chat_provisions p
    where ${isExhausted(at)} and ${isOpen} and ${place}
    order by p.attempts, p.next_attempt_at, p.id
    limit ${limit}
  `.execute(db)
  return rows
}

const isExhausted = (at: DueAt): RawBuilder<unknown> => sql`
  p.status = 'Provisioning' and p.updated_at <= ${stuckBefore(at)}
  and p.attempts >= ${at.maxAttempts}::int`

/** Locks the row if it is still due and nobody holds it; undefined otherwise. */
export function lockDue(
  trx: Transaction<Database>,
  id: string,
  at: DueAt,
): Promise<ClaimedProvision | undefined> {
  return lockRow(trx, id, isDue(at))
}

/** Locks the row if it is still stuck without attempts left and nobody holds it. */
export function lockExhausted(
  trx: Transaction<Database>,
  id: string,
  at: DueAt,
): Promise<ClaimedProvision | undefined> {
  return lockRow(trx, id, isExhausted(at))
}

/** Locks the row if it is still the very version that was seen and nobody holds it. */
export function lockVersion(
  trx: Transaction<Database>,
  id: string,
  xmin: string,
): Promise<ClaimedProvision | undefined> {
  return lockRow(trx, id, sql`xmin::text = ${xmin}`)
}

/**
 * The lock is by primary key, so the planner can't lock another row than this one; SKIP LOCKED leaves
 * a row that the consumer, an operator or a second worker holds, and PostgreSQL checks the predicate
 * again on the newest version of the row before it gives the lock.
 */
async function lockRow(
  trx: Transaction<Database>,
  id: string,
  predicate: RawBuilder<unknown>,
): Promise<ClaimedProvision | undefined> {
  const { rows } = await sql<ClaimedProvision>`
    select id, deal_id as "dealId", chat_id as "chatId", title, project_id as "projectId",
      deal_tenant_id as "dealTenantId", status, attempts, last_error as "lastError",
      next_attempt_at::text as "nextAttemptAt", updated_at::text as "updatedAt",
      xmin::text as xmin,
      (select coalesce(json_agg(json_build_object('userId', m.user_id, 'role', m.role)), '[]')
       from (select user_id, role from messenger.deal_chat_provision_members
             where provision_id = p.id order by user_id limit ${membersAtMost + 1}) m) as members
    from messenger.deal_chat_provisions p
    where id = ${id} and ${predicate}
    for no key update of p skip locked
  `.execute(trx)
  return rows[0]
}
