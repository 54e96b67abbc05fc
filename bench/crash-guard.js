/**
 * What the guard against crash loops costs in good times: the same cycles with the record of open runs,
 * without any, and, beside them, with each attempt on record before its work (what the record of runs
 * saves; docs/adr/0003).
 */

import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import { loadConfig } from '../dist/config/load-config.js'
import { createDatabase } from '../dist/postgres/connect.js'
import { probeDatabase } from '../dist/postgres/probe.js'
import { lockKeys, tryAcquireSessionLock } from '../dist/postgres/session-lock.js'
import { createAttemptReturns } from '../dist/provisioning/attempt-returns.js'
import { runCycle } from '../dist/provisioning/cycle.js'
import { createProvisionContext } from '../dist/provisioning/provision-context.js'
import { referenceChats } from '../dist/provisioning/reference-chats.js'
import { createRunLedger } from '../dist/provisioning/run-ledger.js'
import { seedDue } from './frame/deals.js'
import { interleave } from './frame/interleave.js'
import { below, rankedRows } from './frame/report.js'
import { unwrittenLog } from './frame/service-cycle.js'
import * as statistics from './frame/statistics.js'

const applicationName = 'bench'
const ignore = () => undefined
const none = 'without a guard'
const ours = 'record of open runs'

export const crashGuard = {
  long: true,
  /** Two full batches a cycle; the smaller a cycle, the more the guard's two statements weigh. */
  full: { rowsPerCycle: 200, rounds: 25 },
  short: { rowsPerCycle: 10, rounds: 1 },

  async run({ servers, sizes }) {
    const { url, db: admin, drop } = await servers.database(['service', 'reference'])
    const config = loadConfig(
      { DATABASE_URL: url, OUTBOX_RELAY: 'off' },
      { database: true, kafka: false, http: false },
    )
    const db = createDatabase({
      connectionString: url,
      applicationName,
      max: config.retry.concurrency + 1,
      rowWork: true,
      onConnectionLost: ignore,
    })
    const guard = createRunLedger(db, 'bench')
    const ledgers = {
      [none]: { open: () => Promise.resolve(false), close: () => Promise.resolve() },
      [ours]: guard,
      'each attempt on record': {
        open: async (...run) => (await guard.open(...run)) || true,
        close: guard.close,
      },
    }
    const times = await interleave(ledgers, sizes, async (ledger) => {
      await seed(admin, sizes.rowsPerCycle)
      return timedCycle({ db, config, ledger, url }, sizes.rowsPerCycle)
    })
    await db.destroy()
    await drop()
    return {
      tables: [{ title: 'milliseconds of a cycle', rows: rankedRows(times, none, statistics) }],
      goals: [below('time beside no guard', 1.05, statistics.ratio(times[ours], times[none]))],
    }
  },
}

async function timedCycle(parts, rows) {
  const startedAt = performance.now()
  const { outcome, provisioned } = await cycle(parts)
  if (outcome !== 'completed' || provisioned !== rows)
    throw new Error(`the cycle did not do its work: ${outcome}, ${provisioned}`)
  return performance.now() - startedAt
}

/** Due rows alone: nothing else is to weigh here. */
async function seed(db, rows) {
  await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
    messenger.outbox_events, messenger.chat_provision_runs, messenger.chats,
    messenger.participants, messenger.chat_events`.execute(db)
  await seedDue(db, rows)
  await sql`analyze messenger.deal_chat_provisions`.execute(db)
}

function cycle({ db, config, ledger, url }) {
  return runCycle(
    {
      db,
      ledger,
      acquireLock: () =>
        tryAcquireSessionLock({
          connectionString: url,
          lock: lockKeys.run,
          ttlMs: config.retry.lockTtlMs,
          applicationName,
        }),
      probe: () => probeDatabase(url, applicationName),
      returns: createAttemptReturns(db),
      retry: config.retry,
      topic: config.outbox.topic,
      provisioning: createProvisionContext(referenceChats, config.retry.participantRoles),
      log: unwrittenLog(),
      metrics: { retried: ignore, succeeded: ignore, poison: ignore, cycleCompleted: ignore },
      random: Math.random,
      now: () => performance.now(),
      onEventWritten: ignore,
    },
    new globalThis.AbortController().signal,
  )
}
