/**
 * The metrics by their promised names, on a registry of their own (never prom-client's global one,
 * which tests and embedding hosts would share), exposed from the start without labels.
 */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createJobMetrics, type JobMetrics } from './job-metrics.js'
import type { IntakeMetrics, ProvisioningMetrics, RelayMetrics } from './metric-ports.js'
import { processMetrics } from './process-metrics.js'

/** What one look at the database found; null where the deployment has no such thing. */
export interface DatabaseValues {
  /** Failed and stuck rows, poison among them. */
  readonly failed: number
  /** Age of the oldest failed or stuck row that still has attempts; 0 when there is none. */
  readonly oldestAgeSeconds: number
  /** Rows out of attempts. */
  readonly poison: number
  /** Unix time at which the last completed cycle of any instance ended; 0 before the first. */
  readonly lastRunTimestampSeconds: number
  readonly outboxParked: number
  /** Messages of crm that the intake has set aside. */
  readonly intakeParked: number
  /** Not counted where Debezium relays. */
  readonly outbox: { readonly backlog: number; readonly publishLagSeconds: number } | null
  /** Logical replication slots and the WAL held back for them; null where this process relays. */
  readonly slot: { readonly count: number; readonly lagBytes: number } | null
}

/** One line of the reference. */
export interface MetricRow {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
}

export interface Metrics {
  readonly provisioning: ProvisioningMetrics
  readonly relay: RelayMetrics
  readonly intake: IntakeMetrics
  readonly jobs: JobMetrics
  setPollingInterval(seconds: number): void
  setDatabaseValues(values: DatabaseValues): void
  setDatabaseLookAge(seconds: number): void
  /** Runs before each rendering, all of them at once: the place to bring gauges up to date. */
  beforeRender(refresh: () => Promise<void>): void
  /** What is exposed, for documents. */
  table(): readonly MetricRow[]
  /** The text format of Prometheus, and its content type. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>
}

/**
 * Upper bounds in seconds: an idle cycle takes milliseconds, a full one ends at MAX_RUN_DURATION,
 * 3 minutes by default, so both ends and the minutes beyond a raised limit can be told apart.
 */
const cycleBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 120, 180, 300, 600]

export interface MetricsOptions {
  /** `off` means that Debezium publishes: its slot is watched in the backlog's place. */
  readonly relay?: 'kafka' | 'stdout' | 'off'
  /** With the process's own, for what is scraped. */
  readonly ofProcess?: boolean
}

export function createMetrics({ relay, ofProcess = false }: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  const exposed = ofProcess ? [registry, processMetrics()] : [registry]
  const registers = [registry]
  const counter = (name: string, help: string) => new Counter({ name, help, registers })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })

  const failed = gauge(
    'messenger_chat_provision_failed',
    'Provisions that are Failed or stuck in Provisioning, poison among them.',
  )
  const oldestAge = gauge(
    'messenger_chat_provision_oldest_age_seconds',
    'Age of the oldest failed or stuck provision that still has attempts.',
  )
  const retried = counter(
    'messenger_chat_provision_retried_total',
    'Runs that failed and will be repeated.',
  )
  const succeeded = counter('messenger_chat_provision_succeeded_total', 'Provisions made Ready.')
  const poisonTotal = counter(
    'messenger_chat_provision_poison_total',
    'Provisions that ran out of attempts.',
  )
  const poison = gauge(
    'messenger_chat_provision_poison',
    'Provisions that are out of attempts now, until someone re-enqueues them.',
  )
  const lastRun = gauge(
    'messenger_chat_provision_last_run_timestamp_seconds',
    'Unix time of the last completed cycle of any instance.',
  )
  const pollingInterval = gauge(
    'messenger_chat_provision_polling_interval_seconds',
    'The polling interval in force.',
  )
  const cycleDuration = new Histogram({
    name: 'messenger_chat_provision_cycle_duration_seconds',
    help: 'How long completed cycles took.',
    buckets: cycleBuckets,
    registers,
  })
  const lookAge = gauge(
    'messenger_chat_provision_database_look_age_seconds',
    'Age of the look at the database that the gauges come from.',
  )
  const published = counter('messenger_outbox_published_total', 'Events acknowledged and marked.')
  const staleMarks = counter(
    'messenger_outbox_stale_marks_total',
    'Events acknowledged whose mark the fencing check refused; consumers see a redelivery.',
  )
  const parkings = counter(
    'messenger_outbox_parkings_total',
    'Events set aside after their last attempt.',
  )
  const parked = gauge('messenger_outbox_parked', 'Events that are set aside now.')
  const intakeParkings = counter(
    'messenger_intake_parkings_total',
    'Messages of crm that were set aside, as they could not be taken in.',
  )
  const intakeParked = gauge(
    'messenger_intake_parked',
    'Messages of crm that are set aside now, until someone retries or discards them.',
  )
  const setOutboxValues = relay === 'off' ? slotGauges(gauge) : backlogGauges(gauge)

  const refreshes: (() => Promise<void>)[] = []
  return {
    provisioning: {
      retried: () => retried.inc(),
      succeeded: () => succeeded.inc(),
      poison: () => poisonTotal.inc(),
      cycleCompleted: (seconds) => cycleDuration.observe(seconds),
    },
    relay: {
      published: (n) => published.inc(n),
      staleMarks: (n) => staleMarks.inc(n),
      parked: (n) => parkings.inc(n),
    },
    intake: { parked: () => intakeParkings.inc() },
    jobs: createJobMetrics(registry),
    setPollingInterval: (seconds) => pollingInterval.set(seconds),
    setDatabaseLookAge: (seconds) => lookAge.set(seconds),
    setDatabaseValues: (values) => {
      failed.set(values.failed)
      oldestAge.set(values.oldestAgeSeconds)
      poison.set(values.poison)
      lastRun.set(values.lastRunTimestampSeconds)
      parked.set(values.outboxParked)
      intakeParked.set(values.intakeParked)
      setOutboxValues(values)
    },
    beforeRender: (refresh) => void refreshes.push(refresh),
    table: () => exposed.flatMap((part) => part.getMetricsAsArray()).map(rowOf),
    render: async () => {
      await Promise.all(refreshes.map((refresh) => refresh()))
      const texts = await Promise.all(exposed.map((part) => part.metrics()))
      return { contentType: registry.contentType, body: texts.join('\n') }
    },
  }
}

/** prom-client keeps a metric's labels beside what its types tell of. */
function rowOf(metric: {
  name: string
  type: unknown
  help: string
  labelNames?: string[]
}): MetricRow {
  const { name, type, help, labelNames = [] } = metric
  return { name, type: String(type), help, labels: labelNames }
}

type MakeGauge = (name: string, help: string) => Gauge
type SetOutboxValues = (values: DatabaseValues) => void

function backlogGauges(gauge: MakeGauge): SetOutboxValues {
  const backlog = gauge('messenger_outbox_backlog', 'Events that wait to be published.')
  const lag = gauge(
    'messenger_outbox_publish_lag_seconds',
    'Age of the oldest event that waits to be published.',
  )
  return ({ outbox }) => {
    backlog.set(outbox?.backlog ?? 0)
    lag.set(outbox?.publishLagSeconds ?? 0)
  }
}

function slotGauges(gauge: MakeGauge): SetOutboxValues {
  const lag = gauge(
    'messenger_outbox_slot_lag_bytes',
    'WAL between the database and what the relay has confirmed.',
  )
  // Without a slot nothing lags, and nothing is relayed either.
  const slots = gauge('messenger_outbox_slots', 'Logical replication slots of this database.')
  return ({ slot }) => {
    lag.set(slot?.lagBytes ?? 0)
    slots.set(slot?.count ?? 0)
  }
}
