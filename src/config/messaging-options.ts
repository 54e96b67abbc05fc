/** The options of Kafka, the outbox, the intake and the durable jobs; a part of the table in options.ts. */

import { brokerList, queueList, topic } from './addresses.js'
import { attempts, batch, notBlank, plainName, type OptionGroup } from './option.js'
import {
  atLeastADay,
  duration,
  flag,
  longDuration,
  matching,
  oneOf,
  wholeNumber,
} from './value-kinds.js'

export const messagingOptions = {
  KAFKA_BROKERS: {
    kind: brokerList,
    about: 'Required by what talks to Kafka, when OUTBOX_RELAY=kafka or INTAKE_ENABLED=true.',
    need: 'kafka',
  },
  KAFKA_CLIENT_ID: {
    kind: plainName,
    default: 'chat-provision-retry',
    about: 'The name that the brokers see.',
    need: 'kafka',
  },
  KAFKA_SSL: { kind: flag, default: 'false', about: 'TLS to the brokers.', need: 'kafka' },
  KAFKA_SSL_CA_FILE: {
    kind: matching(/\S/, 'the path of a PEM file'),
    about:
      "PEM file of the authority that signed the brokers' certificates; without it the system's.",
    need: 'kafka',
  },
  KAFKA_SASL_MECHANISM: {
    kind: oneOf(['plain', 'scram-sha-256', 'scram-sha-512']),
    about: 'How to log in at the brokers; unset: not at all.',
    need: 'kafka',
  },
  KAFKA_SASL_USERNAME: { kind: notBlank, about: 'With KAFKA_SASL_MECHANISM.', need: 'kafka' },
  KAFKA_SASL_PASSWORD: {
    kind: notBlank,
    about: 'With KAFKA_SASL_MECHANISM.',
    secret: true,
    need: 'kafka',
  },
  OUTBOX_RELAY: {
    kind: oneOf(['kafka', 'stdout', 'off']),
    default: 'kafka',
    about: 'Who publishes: this service to Kafka or as JSON lines on stdout, or (off) Debezium.',
  },
  OUTBOX_TOPIC: {
    kind: topic,
    default: 'pin.messenger.deal-chat-status-changed.v1',
    about: "The event's topic.",
  },
  OUTBOX_POLL_INTERVAL: {
    kind: duration,
    default: '1s',
    about: 'How often to look for events that other processes wrote.',
  },
  OUTBOX_BATCH_SIZE: { kind: batch, default: '500', about: 'Events read and sent at a time.' },
  OUTBOX_MAX_ATTEMPTS: {
    kind: attempts,
    default: '10',
    about: "Sends of one event until it is parked; the transport's failures don't count.",
  },
  OUTBOX_SEND_TIMEOUT: {
    kind: duration,
    default: '15s',
    about: 'A send without an answer is given up after it.',
  },
  OUTBOX_RETENTION: {
    kind: longDuration,
    default: '7d',
    about: 'Published, superseded and skipped events are kept so long.',
  },
  INTAKE_ENABLED: {
    kind: flag,
    default: 'false',
    about: 'Consume deal-created here, where no messenger does.',
  },
  INTAKE_TOPIC: { kind: topic, default: 'pin.crm.deal-created.v1', about: 'Where from.' },
  INTAKE_GROUP_ID: {
    kind: plainName,
    default: 'messenger.chat-provision-retry',
    about: 'Consumer group.',
  },
  CHOKAQ_POLL_INTERVAL: { kind: duration, default: '1s', about: 'How often to look for jobs.' },
  CHOKAQ_BATCH_SIZE: { kind: batch, default: '20', about: 'Jobs fetched at a time.' },
  CHOKAQ_CONCURRENCY: {
    kind: wholeNumber(1, 1_000),
    default: '10',
    about: 'Jobs under way at once.',
  },
  CHOKAQ_MAX_ATTEMPTS: {
    kind: attempts,
    default: '3',
    about: 'Runs until a job is a dead letter.',
  },
  CHOKAQ_HEARTBEAT_MIN: {
    kind: duration,
    default: '8s',
    about: 'A running job says that it lives at a random interval from this …',
  },
  CHOKAQ_HEARTBEAT_MAX: { kind: duration, default: '12s', about: '… to this.' },
  CHOKAQ_FETCHED_TIMEOUT: {
    kind: longDuration,
    default: '10m',
    about: 'A job fetched but not started goes back after it.',
  },
  CHOKAQ_ZOMBIE_TIMEOUT: {
    kind: longDuration,
    default: '10m',
    about: 'A running job without heartbeat for so long is dead.',
  },
  CHOKAQ_RETENTION: {
    // The day's retention.v1 is known to be done by its row in the archive.
    kind: atLeastADay,
    default: '7d',
    about: 'Succeeded jobs are kept so long; dead letters stay until somebody acts.',
  },
  CHOKAQ_QUEUES: {
    kind: queueList,
    about: 'First values of the queues table: `reports:maxWorkers=3,zombieTimeout=40m;…`.',
  },
} as const satisfies OptionGroup
