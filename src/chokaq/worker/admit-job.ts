/** Whether a fetched job can be run at all, asked before it starts and before an attempt is spent. */

import type { FetchedJob } from '../jobs/job.js'
import type { Random } from '../kernel/backoff.js'
import type { CircuitLease } from '../kernel/circuit-breaker.js'
import { decidePostponement } from '../kernel/retry-decision.js'
import type { JobDefinition } from '../registry/job-definition.js'
import type { JobRegistry } from '../registry/job-registry.js'
import { readPayload, type CheckedPayload } from '../registry/payload-schema.js'
import type { CircuitBreakers } from './circuit-breakers.js'
import type { DeathReason } from './job-moves.js'

export type Admission =
  | {
      readonly kind: 'admitted'
      readonly definition: JobDefinition
      readonly payload: unknown
      readonly circuit: CircuitLease
    }
  /** Its type's circuit is open: no attempt is spent. */
  | { readonly kind: 'postponed'; readonly delayMs: number }
  | {
      readonly kind: 'dead'
      readonly reason: DeathReason
      readonly details: string
    }

export interface AdmissionRules {
  readonly registry: JobRegistry
  readonly breakers: CircuitBreakers
  readonly openMs: number
  readonly maxAttempts: number
  readonly maxAgeMs: number
  readonly random: Random
}

/**
 * @param ageMs since it was first due or resurrected
 * @returns a promise only where the payload's schema needs time
 */
export function admitJob(
  job: FetchedJob,
  ageMs: number,
  rules: AdmissionRules,
): Admission | Promise<Admission> {
  const definition = rules.registry.find(job.type)
  if (definition === undefined) {
    const details = `No handler is defined for ${job.type} in the worker that fetched it.`
    return { kind: 'dead', reason: 'UnknownType', details }
  }
  const maxAgeMs = definition.options.maxAgeMs ?? rules.maxAgeMs
  if (job.attempts > 0 && ageMs > maxAgeMs) {
    const details = `The job is ${Math.round(ageMs)} ms old; no run begins after ${maxAgeMs} ms.`
    return { kind: 'dead', reason: 'RetryLifetimeExpired', details }
  }
  const maxAttempts = definition.options.maxAttempts ?? rules.maxAttempts
  if (job.attempts >= maxAttempts) {
    const details = `The job has ${job.attempts} runs behind it; no run begins after ${maxAttempts}.`
    return { kind: 'dead', reason: 'MaxRetriesExceeded', details }
  }
  const checked = readPayload(definition.schema, job.payload)
  const decide = (known: CheckedPayload<unknown>): Admission =>
    admitPayload(job, { ageMs, maxAgeMs }, definition, known, rules)
  return checked instanceof Promise ? checked.then(decide) : decide(checked)
}

interface Age {
  readonly ageMs: number
  /** The definition's, or the worker's. */
  readonly maxAgeMs: number
}

function admitPayload(
  job: FetchedJob,
  age: Age,
  definition: JobDefinition,
  checked: CheckedPayload<unknown>,
  rules: AdmissionRules,
): Admission {
  if (!checked.ok) {
    const details = `The payload does not fit ${job.type}:\n${checked.why}`
    return { kind: 'dead', reason: 'InvalidPayload', details }
  }
  const circuit = rules.breakers.tryAcquire(job.type)
  if (circuit === undefined) return postpone(job, age, rules)
  return { kind: 'admitted', definition, payload: checked.payload, circuit }
}

function postpone(
  job: FetchedJob,
  { ageMs, maxAgeMs }: Age,
  { openMs, random }: AdmissionRules,
): Admission {
  // Spread over half a period, so that all do not come back in one instant.
  const delayMs = openMs * (1 + random() / 2)
  const decision = decidePostponement({ attempts: job.attempts, ageMs, delayMs }, { maxAgeMs })
  if (decision.kind === 'retry') return { kind: 'postponed', delayMs: decision.delayMs }
  const details = `The circuit of ${job.type} is open, and the job has grown older than ${maxAgeMs} ms.`
  return { kind: 'dead', reason: decision.reason, details }
}
