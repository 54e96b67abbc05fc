/** What nobody but a person will go on with: each is counted, with the latest or commonest reason. */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Config } from '../../config/config.js'
import { stateCodes } from '../../chokaq/kernel/job-state.js'
import { isInState } from '../../operations/event-state.js'
import { isPoison } from '../../operations/provision-filter.js'
import type { Database } from '../../postgres/schema.js'
import { ok, warning, worstOf, type Verdict } from '../finding.js'

/** Rows out of attempts, which no cycle takes again. */
export async function checkPoison(trx: Transaction<Database>, { retry }: Config): Promise<Verdict> {
  const { n, since, reason } = await look(trx, {
    from: sql`messenger.deal_chat_provisions p where ${isPoison(retry.maxAttempts)}`,
    since: sql`updated_at`,
    reason: sql`last_error`,
  })
  if (n === 0) return ok('no deal is out of attempts')
  return warning(
    `${n} out of attempts${sinceText(since)}, most for ${reason}`,
    'chat-provision-retry provisions list --poison; then runbooks/chat-provision-poison.md',
  )
}

/** Events that failed for their own sake: crm isn't told of their deals' state. */
export async function checkParkedEvents(trx: Transaction<Database>): Promise<Verdict> {
  const { n, since, reason } = await look(trx, {
    from: sql`messenger.outbox_events e where ${isInState.parked}`,
    since: sql`parked_at`,
    reason: sql`last_error`,
  })
  if (n === 0) return ok('no event is set aside')
  return warning(
    `${n} set aside${sinceText(since)}, most for ${reason}`,
    'chat-provision-retry outbox list --parked; then runbooks/chat-provision-outbox-parked.md',
  )
}

/** Messages of crm that could not be read: their deals have no chat, and nobody retries them. */
export async function checkParkedMessages(trx: Transaction<Database>): Promise<Verdict> {
  const { n, since, reason } = await look(trx, {
    from: sql`messenger.intake_parked`,
    since: sql`parked_at`,
    reason: sql`error`,
  })
  if (n === 0) return ok('no message of crm is set aside')
  return warning(
    `${n} set aside${sinceText(since)}, most for ${reason}`,
    'chat-provision-retry intake list; then runbooks/chat-provision-intake-parked.md',
  )
}

/** What was ordered and isn't done; whatever an operator cancelled is as he wants it. */
export async function checkDeadLetters(trx: Transaction<Database>): Promise<Verdict> {
  const troubles: Verdict[] = []
  for (const { state, code, mend } of deadStates) {
    const { n, since, reason } = await look(trx, {
      from: sql`chokaq.jobs_dlq where state = ${code}`,
      since: sql`finished_at`,
      reason: sql`type || ' (' || reason || ')'`,
    })
    if (n === 0) continue
    const found = `${n} ${state}${sinceText(since)}, most of ${reason}`
    troubles.push(warning(found, mend))
  }
  return worstOf(troubles, 'no job is a dead letter')
}

const deadStates = [
  {
    state: 'Failed',
    code: stateCodes.Failed,
    mend: 'chat-provision-retry jobs list --state Failed; then runbooks/chat-provision-jobs-dying.md',
  },
  {
    state: 'Zombie',
    code: stateCodes.Zombie,
    mend: 'chat-provision-retry jobs list --state Zombie; then runbooks/chat-provision-jobs-zombie.md',
  },
] as const

/** A queue that somebody paused begins no job until somebody resumes it. */
export async function checkPausedQueues(trx: Transaction<Database>): Promise<Verdict> {
  const { rows } = await sql<{ name: string; since: string; by: string | null; waiting: number }>`
    select q.name, date_trunc('second', q.updated_at)::text as since, q.updated_by as by,
      (select count(*)::int from chokaq.jobs_hot h where h.queue = q.name and h.state = ${stateCodes.Pending}) as waiting
    from chokaq.queues q where q.paused order by q.name
  `.execute(trx)
  const [first] = rows
  if (first === undefined) return ok('no queue is paused')
  const found = rows.map(
    ({ name, since, by, waiting }) =>
      `${name} paused (set by ${by ?? 'somebody'} at ${since}), ${waiting} jobs wait`,
  )
  return warning(
    found.join('; '),
    `once its reason is gone: chat-provision-retry queues resume ${first.name} --by NAME --reason TEXT`,
  )
}

interface Trouble {
  readonly n: number
  /** Of the oldest; null where there is none. */
  readonly since: string | null
  /** The commonest. */
  readonly reason: string
}

async function look(
  trx: Transaction<Database>,
  { from, since, reason }: Readonly<Record<'from' | 'since' | 'reason', RawBuilder<unknown>>>,
): Promise<Trouble> {
  const { rows } = await sql<Trouble>`
    select count(*)::int as n, date_trunc('second', min(${since}))::text as since,
      coalesce(mode() within group (order by ${reason}), 'no reason') as reason
    from ${from}
  `.execute(trx)
  return rows[0] ?? { n: 0, since: null, reason: 'no reason' }
}

function sinceText(since: string | null): string {
  return since === null ? '' : `, the oldest since ${since}`
}
