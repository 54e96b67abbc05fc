/** Rules between options. One with a fault of its own is undefined here and raises no second one. */

import { accessSync, constants } from 'node:fs'
import type { Needs } from './option.js'
import type { OptionName, OptionValues } from './options.js'
import { reason, type Fault } from './read-options.js'

interface Checked {
  readonly values: Partial<OptionValues>
  /** Set in whatever way, well or badly. */
  readonly isGiven: (name: OptionName) => boolean
  readonly needs: Needs
}

export function checkAcross(checked: Checked): Fault[] {
  const { values, needs } = checked
  return [
    ...requirements(checked),
    ...orders(values),
    ...(needs.kafka ? [...sasl(checked), ...certificate(values)] : []),
    ...(needs.http ? tokens(values) : []),
  ]
}

function requirements({ values, isGiven, needs }: Checked): Fault[] {
  const faults: Fault[] = []
  if (needs.database && !isGiven('DATABASE_URL')) {
    faults.push('DATABASE_URL is required: postgres://user:password@host:5432/database')
  }
  const talker =
    values.OUTBOX_RELAY === 'kafka'
      ? 'OUTBOX_RELAY=kafka'
      : values.INTAKE_ENABLED === true
        ? 'INTAKE_ENABLED=true'
        : undefined
  if (needs.kafka && talker !== undefined && !isGiven('KAFKA_BROKERS')) {
    faults.push(
      `KAFKA_BROKERS is required with ${talker}: host:port, several separated by commas` +
        (talker === 'OUTBOX_RELAY=kafka' ? '; without Kafka, set OUTBOX_RELAY=stdout or off' : ''),
    )
  }
  return faults
}

/** `larger` must be above `smaller`, or at least equal; why, for whoever reads the fault. */
const ordered: readonly {
  readonly larger: DurationName
  readonly smaller: DurationName
  readonly orEqual: boolean
  readonly why: string
}[] = [
  {
    larger: 'CHAT_PROVISION_RETRY_LOCK_TTL',
    smaller: 'CHAT_PROVISION_RETRY_MAX_RUN_DURATION',
    orEqual: false,
    why: 'or the server could free the lock of a cycle that still runs',
  },
  {
    larger: 'CHAT_PROVISION_RETRY_BACKOFF_CAP',
    smaller: 'CHAT_PROVISION_RETRY_BACKOFF_BASE',
    orEqual: true,
    why: 'for no wait is longer than the cap',
  },
  {
    larger: 'CHOKAQ_HEARTBEAT_MAX',
    smaller: 'CHOKAQ_HEARTBEAT_MIN',
    orEqual: true,
    why: 'for the interval is random between them',
  },
  {
    larger: 'CHOKAQ_ZOMBIE_TIMEOUT',
    smaller: 'CHOKAQ_HEARTBEAT_MAX',
    orEqual: false,
    why: 'or jobs that live would be taken for dead',
  },
]

type DurationName =
  | `CHAT_PROVISION_RETRY_${'LOCK_TTL' | 'MAX_RUN_DURATION' | 'BACKOFF_CAP' | 'BACKOFF_BASE'}`
  | `CHOKAQ_${'HEARTBEAT_MIN' | 'HEARTBEAT_MAX' | 'ZOMBIE_TIMEOUT'}`

function orders(values: Partial<OptionValues>): Fault[] {
  const faults = ordered.flatMap(({ larger, smaller, orEqual, why }) => {
    const [high, low] = [values[larger], values[smaller]]
    if (high === undefined || low === undefined) return []
    if (orEqual ? high >= low : high > low) return []
    return [`${larger} must be ${orEqual ? 'at least' : 'above'} ${smaller}, ${why}`]
  })
  const heartbeatMs = values.CHOKAQ_HEARTBEAT_MAX ?? 0
  for (const { name, zombieTimeoutMs } of values.CHOKAQ_QUEUES ?? []) {
    if (zombieTimeoutMs !== undefined && zombieTimeoutMs <= heartbeatMs) {
      faults.push(
        `CHOKAQ_QUEUES must give ${name} a zombieTimeout above CHOKAQ_HEARTBEAT_MAX, ` +
          'or jobs that live would be taken for dead',
      )
    }
  }
  if (values.INTAKE_ENABLED === true && values.INTAKE_TOPIC === values.OUTBOX_TOPIC) {
    faults.push('INTAKE_TOPIC must differ from OUTBOX_TOPIC, or the service would read itself')
  }
  return faults
}

function sasl({ isGiven }: Checked): Fault[] {
  const parts = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const
  const missing = parts.filter((name) => !isGiven(name))
  if (missing.length === 0 || missing.length === parts.length) return []
  return [`${missing.join(' and ')} must be set too: ${parts.join(', ')} go together`]
}

function certificate({ KAFKA_SSL: ssl, KAFKA_SSL_CA_FILE: file }: Partial<OptionValues>): Fault[] {
  if (file === undefined) return []
  if (ssl === false) return ['KAFKA_SSL must be true where KAFKA_SSL_CA_FILE is set']
  try {
    accessSync(file, constants.R_OK)
    return []
  } catch (error) {
    return [`KAFKA_SSL_CA_FILE names a file that can't be read: ${file} (${reason(error)})`]
  }
}

function tokens({
  DECK_READ_TOKEN: read,
  DECK_ADMIN_TOKEN: admin,
}: Partial<OptionValues>): Fault[] {
  if (read === undefined || read !== admin) return []
  return ['DECK_ADMIN_TOKEN must differ from DECK_READ_TOKEN, or every reader could change things']
}
