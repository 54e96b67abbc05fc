/** Counts a cycle's outcomes and tells of each: to the log, to the metrics, and to the relay. */

import type { Logger } from 'pino'
import { logEvent } from '../telemetry/log-events.js'
import type { ProvisioningMetrics } from '../telemetry/metric-ports.js'
import type { Candidate } from './candidates.js'
import { lastErrorText } from './last-error.js'
import type { AttemptOutcome } from './retry-in-place.js'
import type { RunCounts } from './run-ledger.js'

export interface Tally {
  add(row: Pick<Candidate, 'dealId'>, outcome: AttemptOutcome): void
  counts(): RunCounts
  /** Rows that stay as they were, due again, because nothing could be done or recorded. */
  untouched(): number
}

export function createTally(
  log: Logger,
  metrics: ProvisioningMetrics,
  onEventWritten: () => void,
): Tally {
  let provisioned = 0
  let retried = 0
  let failed = 0
  let skipped = 0
  let untouched = 0

  return {
    add({ dealId }, outcome) {
      switch (outcome.kind) {
        case 'provisioned': {
          provisioned += 1
          metrics.succeeded()
          const { chatId, attempts } = outcome
          logEvent(log, 'chat provisioned', { dealId, chatId, attempts })
          onEventWritten()
          return
        }
        case 'retried': {
          retried += 1
          metrics.retried()
          const { attempts, failure } = outcome
          const lastError = lastErrorText(failure)
          logEvent(log, 'provision retry', { dealId, attempts, errorCode: failure.code, lastError })
          return
        }
        case 'poison': {
          failed += 1
          metrics.poison()
          const { attempts, failure } = outcome
          const lastError = lastErrorText(failure)
          const fields = {
            dealId,
            poison: true,
            attempts,
            errorCode: failure.code,
            lastError,
          } as const
          logEvent(log, 'provision failed', fields)
          onEventWritten()
          return
        }
        case 'skipped':
          skipped += 1
          return
        case 'untouched':
          untouched += 1
          log.warn(
            { event: 'provision untouched', dealId, err: outcome.error },
            'provision untouched',
          )
      }
    },
    untouched: () => untouched,
    counts: () => ({
      claimed: provisioned + retried + failed,
      provisioned,
      retried,
      failed,
      skipped,
    }),
  }
}
