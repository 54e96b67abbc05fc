/**
 * The retry core's metrics, by queue and type. Both labels are capped: whoever enqueues into ever new
 * queues must not make the registry grow without end.
 */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { failureReasons, type CoreMetrics, type JobLabels } from '../chokaq/index.js'

export interface JobMetrics extends CoreMetrics {
  /** Shows these at 0 before the first of them happens, so that rates have a beginning. */
  expect(job: JobLabels): void
  /** Seconds since the longest due job of each queue became due, and its dead letters; absent queues go. */
  setQueues(
    queues: readonly {
      readonly name: string
      readonly lagSeconds: number
      readonly dead: number
    }[],
  ): void
  /** By job type; only those that have run here. */
  setCircuits(circuits: ReadonlyMap<string, 'closed' | 'open' | 'half-open'>): void
}

/** Different values of one label; what comes later is counted as `other`. */
export const labelValuesAtMost = 50

/** Upper bounds in seconds: no-op jobs take milliseconds, an operator's bulk work up to an hour. */
const durationBuckets = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600]

export function createJobMetrics(registry: Registry): JobMetrics {
  const registers = [registry]
  const labelNames = ['queue', 'type'] as const
  const counter = (name: string, help: string) => new Counter({ name, help, registers, labelNames })
  const enqueued = counter('chokaq_jobs_enqueued_total', 'Jobs put into a queue.')
  const succeeded = counter('chokaq_jobs_succeeded_total', 'Jobs that ended well.')
  const retried = counter('chokaq_jobs_retried_total', 'Runs that failed and will be repeated.')
  const failed = new Counter({
    name: 'chokaq_jobs_failed_total',
    help: 'Jobs that became dead letters.',
    registers,
    labelNames: ['queue', 'type', 'reason'],
  })
  const conflicts = new Counter({
    name: 'chokaq_state_conflicts_total',
    help: 'Moves that came too late: the job was no longer the one who moved it.',
    registers,
    labelNames: ['queue', 'type', 'move'],
  })
  const duration = new Histogram({
    name: 'chokaq_job_duration_seconds',
    help: 'How long runs that succeeded took.',
    registers,
    labelNames,
    buckets: durationBuckets,
  })
  const lag = new Gauge({
    name: 'chokaq_queue_lag_seconds',
    help: 'Time since the longest due job of the queue became due.',
    registers,
    labelNames: ['queue'],
  })
  const dead = new Gauge({
    name: 'chokaq_jobs_dead',
    help: 'Dead letters of the queue, cancelled ones among them; they stay until somebody acts.',
    registers,
    labelNames: ['queue'],
  })
  const circuit = new Gauge({
    name: 'chokaq_circuit_open',
    help: "1 while this instance holds the type's jobs back, as too many in a row have failed.",
    registers,
    labelNames: ['type'],
  })
  const [capQueue, capType] = [cappedValues(), cappedValues()]
  const labels = ({ queue, type }: JobLabels) => ({ queue: capQueue(queue), type: capType(type) })

  return {
    enqueued: (job) => enqueued.inc(labels(job)),
    succeeded(job, seconds) {
      succeeded.inc(labels(job))
      duration.observe(labels(job), seconds)
    },
    failed: (job, reason) => failed.inc({ ...labels(job), reason }),
    retried: (job) => retried.inc(labels(job)),
    stateConflict: (job, move) => conflicts.inc({ ...labels(job), move }),
    expect(job) {
      for (const known of [enqueued, succeeded, retried]) known.inc(labels(job), 0)
      // The first job to die must show as a rise, too.
      for (const reason of failureReasons) failed.inc({ ...labels(job), reason }, 0)
      circuit.set({ type: capType(job.type) }, 0)
    },
    setQueues(queues) {
      lag.reset()
      dead.reset()
      const worst = new Map<string, number>()
      for (const { name, lagSeconds, dead: letters } of queues) {
        const queue = capQueue(name)
        worst.set(queue, Math.max(worst.get(queue) ?? 0, lagSeconds))
        dead.inc({ queue }, letters)
      }
      for (const [queue, seconds] of worst) lag.set({ queue }, seconds)
    },
    setCircuits(circuits) {
      for (const [type, state] of circuits) {
        circuit.set({ type: capType(type) }, state === 'closed' ? 0 : 1)
      }
    },
  }
}

function cappedValues(): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= labelValuesAtMost) return 'other'
    known.add(value)
    return value
  }
}
