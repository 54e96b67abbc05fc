/**
 * What the guard against crash loops costs in good times: the same cycles with the record of open runs,
 * without any, and, beside them, with each attempt on record before its work (what the record of runs
 * saves; docs/adr/0003). Interleaved, on a server of its own. Prints a table, and JSON as the last line;
 * exit code 1 where the guard costs more than 5 %.
 */

import process from 'node:process'
import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import { loadConfig } from '../dist/config/load-config.js'
import { startEmbeddedPostgres } from '../dist/demo/servers/embedded-postgres.js'
import { createDatabase } from '../dist/postgres/connect.js'
import { migrateUp } from '../dist/postgres/migrator.js'
import { probeDatabase } from '../dist/postgres/probe.js'
import { lockKeys, tryAcquireSessionLock } from '../dist/postgres/session-lock.js'
import { createAttemptReturns } from '../dist/provisioning/attempt-returns.js'
import { runCycle } from '../dist/provisioning/cycle.js'
import { createProvisionContext } from '../dist/provisioning/provision-context.js'
import { referenceChats } from '../dist/provisioning/reference-chats.js'
import { createRunLedger } from '../dist/provisioning/run-ledger.js'
import { createLogger } from '../dist/telemetry/logger.js'

const rounds = 5
/** In each round every way takes its turn so often: what else the machine does then hits all alike. */
const turns = 6
/** Two full batches; the smaller a cycle, the more the guard's two statements weigh. */
const rowsPerCycle = 200
/** Connections, caches and the compiler; not counted. */
const warmUps = 1
const allowed = 1.05
const applicationName = 'bench'
const ignore = () => undefined

const postgres = await startEmbeddedPostgres()
const config = loadConfig(
  { DATABASE_URL: postgres.url, OUTBOX_RELAY: 'off' },
  { database: true, kafka: false, http: false },
)
const db = createDatabase({
  connectionString: postgres.url,
  applicationName,
  max: config.retry.concurrency + 1,
  onConnectionLost: ignore,
})
await migrateUp(db, ['service', 'reference'])

const guard = createRunLedger(db, 'bench')
const ledgers = {
  'without a guard': { open: () => Promise.resolve(false), close: () => Promise.resolve() },
  'record of open runs': guard,
  'each attempt on record': {
    open: async (...run) => (await guard.open(...run)) || true,
    close: guard.close,
  },
}
const names = Object.keys(ledgers)
const times = Object.fromEntries(names.map((name) => [name, []]))

for (let round = -warmUps; round < rounds; round += 1) {
  const sums = Object.fromEntries(names.map((name) => [name, 0]))
  for (let turn = 0; turn < turns; turn += 1) {
    // Each goes first in its turn, so that none profits from the place.
    const first = turn % names.length
    for (const name of [...names.slice(first), ...names.slice(0, first)])
      sums[name] += await timedCycle(ledgers[name])
  }
  if (round >= 0) for (const name of names) times[name].push(sums[name])
}
await db.destroy()
await postgres.stop()

const base = times[names[0]]
const results = names.map((name) => ({
  name,
  rowsPerSecond: Math.round((1_000 * turns * rowsPerCycle) / median(times[name])),
  /** Of each round by itself, for rounds may differ in what else the machine did. */
  ratio: median(times[name].map((ms, round) => ms / base[round])),
}))
process.stdout.write(
  `${`median of ${rounds} rounds`.padEnd(24)}${'rows/s'.padStart(8)}${'time'.padStart(8)}   each round, ms\n`,
)
for (const { name, rowsPerSecond, ratio } of results) {
  const each = times[name].map((ms) => Math.round(ms)).join(' ')
  process.stdout.write(
    `${name.padEnd(24)}${String(rowsPerSecond).padStart(8)}${ratio.toFixed(3).padStart(8)}   ${each}\n`,
  )
}
process.stdout.write(`${JSON.stringify({ rounds, turns, rowsPerCycle, results })}\n`)
process.exitCode = results[1].ratio <= allowed ? 0 : 1

/** Milliseconds. */
async function timedCycle(ledger) {
  await seed()
  const startedAt = performance.now()
  const { outcome, provisioned } = await cycle(ledger)
  if (outcome !== 'completed' || provisioned !== rowsPerCycle)
    throw new Error(`the cycle did not do its work: ${outcome}, ${provisioned}`)
  return performance.now() - startedAt
}

/** Due rows with three members each, on empty tables. */
async function seed() {
  await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.outbox_events, messenger.chat_provision_runs, messenger.chats,
    messenger.participants, messenger.chat_events`.execute(db)
  await sql`insert into messenger.deal_chat_provisions (id, deal_id, title, status, next_attempt_at)
    select gen_random_uuid(), gen_random_uuid(), 'Deal ' || n, 'Failed', now() - interval '1 hour'
    from generate_series(1, ${rowsPerCycle}::int) n`.execute(db)
  await sql`insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
    select id, gen_random_uuid(), role from messenger.deal_chat_provisions,
      unnest(array['Owner', 'Member', 'Observer']) role`.execute(db)
  await sql`analyze messenger.deal_chat_provisions`.execute(db)
}

function cycle(ledger) {
  return runCycle(
    {
      db,
      ledger,
      acquireLock: () =>
        tryAcquireSessionLock({
          connectionString: postgres.url,
          lock: lockKeys.run,
          ttlMs: config.retry.lockTtlMs,
          applicationName,
        }),
      probe: () => probeDatabase(postgres.url, applicationName),
      returns: createAttemptReturns(db),
      retry: config.retry,
      topic: config.outbox.topic,
      provisioning: createProvisionContext(referenceChats, config.retry.participantRoles),
      log: createLogger({ level: 'silent' }),
      metrics: { retried: ignore, succeeded: ignore, poison: ignore, cycleCompleted: ignore },
      random: Math.random,
      now: () => performance.now(),
      onEventWritten: ignore,
    },
    new globalThis.AbortController().signal,
  )
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
