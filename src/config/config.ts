/** The options in force, as every room receives them: checked, frozen, durations in milliseconds. */

import type { BackoffPolicy } from '../chokaq/kernel/backoff.js'

export interface Config {
  readonly database: {
    readonly url: string
    /** Must be a session of its own, not one of a transaction-pooling proxy. */
    readonly lockUrl: string
  }
  readonly retry: RetryOptions
  readonly kafka: KafkaOptions
  readonly outbox: OutboxOptions
  readonly intake: {
    readonly enabled: boolean
    readonly topic: string
    readonly groupId: string
  }
  readonly chokaq: {
    readonly pollIntervalMs: number
    readonly batchSize: number
    readonly concurrency: number
    readonly maxAttempts: number
    readonly heartbeatMinMs: number
    readonly heartbeatMaxMs: number
    readonly fetchedTimeoutMs: number
    readonly zombieTimeoutMs: number
    readonly retentionMs: number
    readonly queues: readonly QueueOptions[]
  }
  readonly http: {
    readonly host: string
    readonly port: number
    /** Addresses and networks whose word on who asks is taken. */
    readonly trustedProxies: readonly string[]
  }
  readonly deck: { readonly readToken: string | undefined; readonly adminToken: string | undefined }
  readonly logLevel: LogLevel
  readonly shutdownGraceMs: number
  /** The same as they were given, for people; secrets are left out. */
  readonly settings: readonly Setting[]
}

export interface Setting {
  readonly name: string
  /** As one would write it; null: unset. */
  readonly value: string | null
  /** Nothing was given, and the value is the one of the table. */
  readonly isDefault: boolean
  readonly isSecret: boolean
  readonly about: string
}

export interface RetryOptions {
  readonly pollingIntervalMs: number
  /** Candidates read at a time. */
  readonly batchSize: number
  /** Counts runs: the row is poison when this many have failed. */
  readonly maxAttempts: number
  readonly stuckProvisioningAfterMs: number
  readonly backoff: BackoffPolicy
  readonly lockTtlMs: number
  readonly maxRunDurationMs: number
  /** Rows under way at once, each in its own transaction. */
  readonly concurrency: number
  readonly participantRoles: readonly string[]
  readonly runsRetentionMs: number
}

export interface KafkaOptions {
  /** host:port, at least one where something talks to Kafka. */
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly ssl: boolean
  readonly sslCaFile: string | undefined
  readonly sasl:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
        readonly username: string
        readonly password: string
      }
    | undefined
}

export interface OutboxOptions {
  readonly relay: 'kafka' | 'stdout' | 'off'
  readonly topic: string
  readonly pollIntervalMs: number
  readonly batchSize: number
  readonly maxAttempts: number
  readonly sendTimeoutMs: number
  readonly retentionMs: number
}

export interface QueueOptions {
  readonly name: string
  readonly maxWorkers: number | undefined
  readonly zombieTimeoutMs: number | undefined
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
