/** The environment in, the options in force out: all faults at once, nothing read at import. */

import { AppError } from '../errors.js'
import type { Config, KafkaOptions } from './config.js'
import { checkAcross } from './cross-checks.js'
import { nearMisses, unknownNames } from './option-names.js'
import type { Needs } from './option.js'
import type { OptionValues } from './options.js'
import { readOptions, setIn, type Environment, type Fault } from './read-options.js'
import { settingsOf } from './settings.js'

/**
 * Options that the command doesn't need may stay unset, but one that is set is checked:
 * a wrong value is wrong for whichever command comes next.
 *
 * @throws AppError CONFIG_INVALID, one line for each fault; secrets are never quoted
 */
export function loadConfig(env: Environment, needs: Needs): Config {
  const { values, texts, faults } = readOptions(env, needs)
  const isGiven = (name: string) =>
    setIn(env, name) !== undefined || setIn(env, `${name}_FILE`) !== undefined
  const all = [...faults, ...checkAcross({ values, isGiven, needs }), ...unknownNames(env)]
  // What is missing may just be misspelled.
  if (all.length > 0) throw new AppError('CONFIG_INVALID', describe([...all, ...nearMisses(env)]))
  // Without a fault every option that has a default has a value.
  return deepFreeze({ ...toConfig(values as OptionValues), settings: settingsOf(texts) })
}

/** Names that come close to an option's, one line each, for the log of the start. */
export function configWarnings(env: Environment): readonly string[] {
  return nearMisses(env)
}

function describe(faults: readonly Fault[]): string {
  const count = faults.length === 1 ? 'an option is wrong' : `${faults.length} options are wrong`
  return [`${count}:`, ...faults.map((fault) => `  ${fault}`)].join('\n')
}

function toConfig(values: OptionValues): Omit<Config, 'settings'> {
  // A command that doesn't need the database never looks at its address.
  const url = values.DATABASE_URL ?? ''
  return {
    database: { url, lockUrl: values.LOCK_DATABASE_URL ?? url },
    retry: {
      pollingIntervalMs: values.CHAT_PROVISION_RETRY_POLLING_INTERVAL,
      batchSize: values.CHAT_PROVISION_RETRY_BATCH_SIZE,
      maxAttempts: values.CHAT_PROVISION_RETRY_MAX_ATTEMPTS,
      stuckProvisioningAfterMs: values.CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER,
      backoff: {
        baseMs: values.CHAT_PROVISION_RETRY_BACKOFF_BASE,
        factor: values.CHAT_PROVISION_RETRY_BACKOFF_FACTOR,
        capMs: values.CHAT_PROVISION_RETRY_BACKOFF_CAP,
        jitter: values.CHAT_PROVISION_RETRY_BACKOFF_JITTER,
      },
      lockTtlMs: values.CHAT_PROVISION_RETRY_LOCK_TTL,
      maxRunDurationMs: values.CHAT_PROVISION_RETRY_MAX_RUN_DURATION,
      concurrency: values.CHAT_PROVISION_RETRY_CONCURRENCY,
      participantRoles: values.CHAT_PROVISION_RETRY_PARTICIPANT_ROLES,
      runsRetentionMs: values.CHAT_PROVISION_RETRY_RUNS_RETENTION,
    },
    kafka: {
      brokers: values.KAFKA_BROKERS ?? [],
      clientId: values.KAFKA_CLIENT_ID,
      ssl: values.KAFKA_SSL,
      sslCaFile: values.KAFKA_SSL_CA_FILE,
      sasl: toSasl(values),
    },
    outbox: {
      relay: values.OUTBOX_RELAY,
      topic: values.OUTBOX_TOPIC,
      pollIntervalMs: values.OUTBOX_POLL_INTERVAL,
      batchSize: values.OUTBOX_BATCH_SIZE,
      maxAttempts: values.OUTBOX_MAX_ATTEMPTS,
      sendTimeoutMs: values.OUTBOX_SEND_TIMEOUT,
      retentionMs: values.OUTBOX_RETENTION,
    },
    intake: {
      enabled: values.INTAKE_ENABLED,
      topic: values.INTAKE_TOPIC,
      groupId: values.INTAKE_GROUP_ID,
    },
    chokaq: {
      pollIntervalMs: values.CHOKAQ_POLL_INTERVAL,
      batchSize: values.CHOKAQ_BATCH_SIZE,
      concurrency: values.CHOKAQ_CONCURRENCY,
      maxAttempts: values.CHOKAQ_MAX_ATTEMPTS,
      heartbeatMinMs: values.CHOKAQ_HEARTBEAT_MIN,
      heartbeatMaxMs: values.CHOKAQ_HEARTBEAT_MAX,
      fetchedTimeoutMs: values.CHOKAQ_FETCHED_TIMEOUT,
      zombieTimeoutMs: values.CHOKAQ_ZOMBIE_TIMEOUT,
      retentionMs: values.CHOKAQ_RETENTION,
      queues: values.CHOKAQ_QUEUES ?? [],
    },
    http: {
      host: values.HTTP_HOST,
      port: values.HTTP_PORT,
      trustedProxies: values.HTTP_TRUSTED_PROXIES ?? [],
    },
    deck: { readToken: values.DECK_READ_TOKEN, adminToken: values.DECK_ADMIN_TOKEN },
    logLevel: values.LOG_LEVEL,
    shutdownGraceMs: values.SHUTDOWN_GRACE,
  }
}

function toSasl(values: OptionValues): KafkaOptions['sasl'] {
  const mechanism = values.KAFKA_SASL_MECHANISM
  const username = values.KAFKA_SASL_USERNAME
  const password = values.KAFKA_SASL_PASSWORD
  if (mechanism === undefined || username === undefined || password === undefined) return undefined
  return { mechanism, username, password }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
