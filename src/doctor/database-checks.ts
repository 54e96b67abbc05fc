/**
 * The checks that ask PostgreSQL, one after the other, each on a session of its own: a check that
 * hangs or loses its session takes none of the others with it, and doctor never holds more than two.
 */

import { sql, type Transaction } from 'kysely'
import type { Config } from '../config/config.js'
import { openSession } from '../postgres/connect.js'
import type { Database } from '../postgres/schema.js'
import { explainUnavailable } from '../postgres/unavailable.js'
import { AppError } from '../errors.js'
import {
  checkDeadLetters,
  checkParkedEvents,
  checkParkedMessages,
  checkPausedQueues,
  checkPoison,
} from './checks/awaiting-operator.js'
import { checkClocks } from './checks/clocks.js'
import { checkGrants } from './checks/grants.js'
import { checkJobs } from './checks/jobs.js'
import { checkLockAddress } from './checks/lock-address.js'
import { checkLocks } from './checks/locks.js'
import { checkReferenceTables } from './checks/reference-tables.js'
import { checkReplicationSlot } from './checks/replication-slot.js'
import { checkSchema } from './checks/schema.js'
import { checkServer } from './checks/server.js'
import { ageLimits, checkTransactions } from './checks/transactions.js'
import { checkUnreachableRows } from './checks/unreachable-rows.js'
import { examine } from './examine.js'
import { skipped, type Finding, type Verdict } from './finding.js'

/** A look inside a read-only transaction with time limits of its own. */
type DatabaseCheck = (trx: Transaction<Database>, config: Config) => Promise<Verdict>

const first = ['database', checkServer] as const
const others: readonly (readonly [string, DatabaseCheck])[] = [
  ['schema', checkSchema],
  ['reference tables', checkReferenceTables],
  ['grants', checkGrants],
  ['lock address', checkLockAddress],
  ['locks', checkLocks],
  ['clocks', checkClocks],
  ['transactions', (trx) => checkTransactions(trx, ageLimits)],
  ['rows', checkUnreachableRows],
  ['poison rows', checkPoison],
  ['parked events', checkParkedEvents],
  ['intake messages', checkParkedMessages],
  ['jobs', checkJobs],
  ['dead letters', checkDeadLetters],
  ['queues', checkPausedQueues],
  ['replication slot', checkReplicationSlot],
]

const applicationName = 'chat-provision-retry doctor'

/** Below the limit of a check as a whole, so that the server's own verdict comes first. */
const statementTimeoutMs = 8_000
/** Whoever rebuilds a table keeps it for longer than doctor should wait. */
const lockTimeoutMs = 3_000

export const databaseCheckNames = [first, ...others].map(([name]) => name)

/** Where no session can be had, the first finding says why and the others are marked as not looked at. */
export async function examineDatabase(config: Config): Promise<Finding[]> {
  const server = { reached: false }
  const look =
    (check: DatabaseCheck) =>
    (signal: AbortSignal): Promise<Verdict> =>
      onOwnSession(config, signal, (trx) => {
        server.reached = true
        return check(trx, config)
      })
  const findings = [await examine(first[0], look(first[1]))]
  for (const [name, check] of others) {
    findings.push(
      server.reached
        ? await examine(name, look(check))
        : { check: name, ...skipped('the database can not be used: see database') },
    )
  }
  return findings
}

async function onOwnSession(
  config: Config,
  signal: AbortSignal,
  work: (trx: Transaction<Database>) => Promise<Verdict>,
): Promise<Verdict> {
  try {
    const session = await openSession(config.database.url, applicationName)
    const end = (): void => void session.end()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    try {
      return await session.db
        .transaction()
        .setAccessMode('read only')
        .execute(async (trx) => {
          await sql`
            select set_config('statement_timeout', ${String(statementTimeoutMs)}, true),
              set_config('lock_timeout', ${String(lockTimeoutMs)}, true)
          `.execute(trx)
          return work(trx)
        })
    } finally {
      signal.removeEventListener('abort', end)
      await session.end()
    }
  } catch (error) {
    const explained = explainUnavailable(error, config.database)
    if (explained instanceof AppError) throw explained
    throw error
  }
}
