/** What /healthz watches and what /readyz asks, of the parts that the options have switched on. */

import type { Kysely } from 'kysely'
import type { RetryCore } from './chokaq/index.js'
import type { Config } from './config/config.js'
import type { WatchedLoop } from './http/liveness.js'
import type { ReadinessCheck } from './http/readiness.js'
import { longestIntakePauseMs, type Intake } from './intake/intake.js'
import type { OutboxRelay } from './outbox/relay.js'
import { checkWritable } from './postgres/schema-check.js'
import type { Database } from './postgres/schema.js'
import { explainUnavailable } from './postgres/unavailable.js'
import { checkRowWork } from './postgres/work-check.js'
import type { CycleLoop } from './provisioning/cycle-loop.js'
import { gateIntervalMs, type TableGate } from './table-gate.js'

export function watchedLoops({
  config,
  gate,
  cycles,
  relay,
  intake,
  jobs,
  now,
}: {
  readonly config: Config
  readonly gate: TableGate
  readonly cycles: CycleLoop
  readonly relay: OutboxRelay | undefined
  readonly intake: Intake | undefined
  readonly jobs: RetryCore['loops']
  /** Monotonic milliseconds. */
  readonly now: () => number
}): WatchedLoop[] {
  const { pollingIntervalMs, maxRunDurationMs } = config.retry
  // What the gate holds back stands still on purpose, and until it opens the gate itself tries.
  const sinceOpen = (ageMs: number): number => Math.min(ageMs, gate.openForMs())
  const loops: WatchedLoop[] = [
    {
      name: 'start',
      lastTryAgeMs: () => gate.lastTryAgeMs(),
      allowedMs: 2 * gateIntervalMs + maxRunDurationMs,
    },
    {
      name: 'cycle',
      lastTryAgeMs: () => cycles.lastTryAgeMs(),
      allowedMs: 2 * pollingIntervalMs + maxRunDurationMs,
    },
  ]
  for (const loop of jobs) {
    loops.push({
      name: loop.name,
      lastTryAgeMs: () => sinceOpen(loop.lastTryAgeMs()),
      allowedMs: 2 * loop.intervalMs + maxRunDurationMs,
    })
  }
  if (relay !== undefined) {
    const bornAt = now()
    loops.push({
      name: 'relay',
      lastTryAgeMs: () => sinceOpen(now() - (relay.health().lastTryAt ?? bornAt)),
      allowedMs: 2 * config.outbox.pollIntervalMs + maxRunDurationMs,
    })
  }
  if (intake !== undefined) {
    loops.push({
      name: 'intake',
      lastTryAgeMs: () => sinceOpen(intake.lastTryAgeMs()),
      allowedMs: longestIntakePauseMs,
    })
  }
  return loops
}

export function readinessChecks({
  config,
  observer,
  relay,
  intake,
}: {
  readonly config: Config
  readonly observer: Kysely<Database>
  readonly relay: OutboxRelay | undefined
  readonly intake: Intake | undefined
}): ReadinessCheck[] {
  const checks: ReadinessCheck[] = [
    {
      name: 'database',
      check: async () => {
        try {
          await checkRowWork(observer)
          await checkWritable(observer)
          return undefined
        } catch (error) {
          return reasonOf(explainUnavailable(error, config.database))
        }
      },
    },
  ]
  if (relay !== undefined) {
    checks.push({
      name: 'outbox',
      check: () => {
        const { databaseFailure } = relay.health()
        if (databaseFailure === undefined) return Promise.resolve(undefined)
        const explained = explainUnavailable(databaseFailure, config.database, 'LOCK_DATABASE_URL')
        return Promise.resolve(reasonOf(explained))
      },
    })
  }
  // Standard output is no broker to be reached: a reader that went away ends what is written to it.
  if (relay !== undefined && config.outbox.relay === 'kafka') {
    checks.push({
      name: 'broker',
      check: () => {
        const { broker } = relay.health()
        return Promise.resolve(broker.reachable ? undefined : broker.reason)
      },
    })
  }
  if (intake !== undefined) {
    checks.push({ name: 'intake', check: () => Promise.resolve(intake.failure()) })
  }
  return checks
}

function reasonOf(explained: unknown): string {
  return explained instanceof Error ? explained.message : String(explained)
}
