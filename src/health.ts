/** What /healthz watches and what /readyz asks, of the parts that the options have switched on. */

import type { Kysely } from 'kysely'
import type { RetryCore } from './chokaq/index.js'
import type { Config } from './config/config.js'
import type { WatchedLoop } from './http/liveness.js'
import type { ReadinessCheck } from './http/readiness.js'
import { longestIntakePauseMs, type Intake } from './intake/intake.js'
import type { OutboxRelay } from './outbox/relay.js'
import { checkSchema } from './postgres/schema-check.js'
import type { Database } from './postgres/schema.js'
import { explainUnavailable } from './postgres/unavailable.js'
import type { CycleLoop } from './provisioning/cycle-loop.js'

export function watchedLoops({
  config,
  cycles,
  relay,
  intake,
  jobs,
  now,
}: {
  readonly config: Config
  readonly cycles: CycleLoop
  readonly relay: OutboxRelay | undefined
  readonly intake: Intake | undefined
  readonly jobs: RetryCore['loops']
  /** Monotonic milliseconds. */
  readonly now: () => number
}): WatchedLoop[] {
  const { pollingIntervalMs, maxRunDurationMs } = config.retry
  const loops: WatchedLoop[] = [
    {
      name: 'cycle',
      lastTryAgeMs: () => cycles.lastTryAgeMs(),
      allowedMs: 2 * pollingIntervalMs + maxRunDurationMs,
    },
  ]
  for (const loop of jobs) {
    loops.push({
      name: loop.name,
      lastTryAgeMs: () => loop.lastTryAgeMs(),
      allowedMs: 2 * loop.intervalMs + maxRunDurationMs,
    })
  }
  if (relay !== undefined) {
    const bornAt = now()
    loops.push({
      name: 'relay',
      lastTryAgeMs: () => now() - (relay.health().lastTryAt ?? bornAt),
      allowedMs: 2 * config.outbox.pollIntervalMs + maxRunDurationMs,
    })
  }
  if (intake !== undefined) {
    loops.push({
      name: 'intake',
      lastTryAgeMs: () => intake.lastTryAgeMs(),
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
          await checkSchema(observer)
          return undefined
        } catch (error) {
          const explained = explainUnavailable(error, config.database)
          return explained instanceof Error ? explained.message : String(explained)
        }
      },
    },
  ]
  if (relay !== undefined) {
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
