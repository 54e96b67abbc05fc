/** The options as a user meets them: defaults, files, and all faults at once. */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configWarnings, loadConfig } from '../../../src/config/load-config.js'
import { AppError } from '../../../src/errors.js'

const everything = { database: true, kafka: true, http: true }
const nothing = { database: false, kafka: false, http: false }
const required = {
  DATABASE_URL: 'postgres://svc:s3cret@db:5432/app',
  KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092',
}

function faultsOf(env: Record<string, string | undefined>, needs = everything): string[] {
  try {
    loadConfig(env, needs)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', exitCode: 2 })
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
}

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'value')
  writeFileSync(file, text)
  return file
}

describe('without options', () => {
  it('has the promised defaults', () => {
    expect(loadConfig(required, everything)).toEqual({
      database: { url: required.DATABASE_URL, lockUrl: required.DATABASE_URL },
      retry: {
        pollingIntervalMs: 60_000,
        batchSize: 100,
        maxAttempts: 10,
        stuckProvisioningAfterMs: 300_000,
        backoff: { baseMs: 60_000, factor: 2, capMs: 900_000, jitter: 0.2 },
        lockTtlMs: 300_000,
        maxRunDurationMs: 180_000,
        concurrency: 4,
        participantRoles: ['Owner', 'Member', 'Observer'],
        runsRetentionMs: 2_592_000_000,
      },
      kafka: {
        brokers: ['kafka-1:9092', 'kafka-2:9092'],
        clientId: 'chat-provision-retry',
        ssl: false,
        sslCaFile: undefined,
        sasl: undefined,
      },
      outbox: {
        relay: 'kafka',
        topic: 'pin.messenger.deal-chat-status-changed.v1',
        pollIntervalMs: 1_000,
        batchSize: 500,
        maxAttempts: 10,
        sendTimeoutMs: 15_000,
        retentionMs: 604_800_000,
      },
      intake: {
        enabled: false,
        topic: 'pin.crm.deal-created.v1',
        groupId: 'messenger.chat-provision-retry',
      },
      chokaq: {
        pollIntervalMs: 1_000,
        batchSize: 20,
        concurrency: 10,
        maxAttempts: 3,
        heartbeatMinMs: 8_000,
        heartbeatMaxMs: 12_000,
        fetchedTimeoutMs: 600_000,
        zombieTimeoutMs: 600_000,
        retentionMs: 604_800_000,
        queues: [],
      },
      http: { host: '127.0.0.1', port: 8080, trustedProxies: [] },
      deck: { readToken: undefined, adminToken: undefined },
      logLevel: 'info',
      shutdownGraceMs: 20_000,
      settings: expect.any(Array) as unknown,
    })
  })

  it('is frozen to the bottom', () => {
    const config = loadConfig(required, everything)
    for (const part of [config, config.retry.backoff, config.kafka.brokers]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('asks only for what the command uses', () => {
    expect(faultsOf({}, nothing)).toEqual([])
    expect(faultsOf({ OUTBOX_RELAY: 'stdout' })).toEqual([
      'DATABASE_URL is required: postgres://user:password@host:5432/database',
    ])
    expect(faultsOf({ ...required, KAFKA_BROKERS: '' })).toEqual([
      expect.stringMatching(/^KAFKA_BROKERS is required with OUTBOX_RELAY=kafka: host:port/),
    ])
    const intake = { ...required, KAFKA_BROKERS: '', OUTBOX_RELAY: 'off', INTAKE_ENABLED: 'true' }
    expect(faultsOf(intake)).toEqual([expect.stringContaining('INTAKE_ENABLED=true')])
  })

  it('takes an empty variable for an unset one', () => {
    expect(loadConfig({ ...required, HTTP_PORT: '', DECK_FOO: '' }, everything).http.port).toBe(
      8080,
    )
  })
})

describe('faults', () => {
  it('are listed all at once, each with what is allowed', () => {
    expect(
      faultsOf({
        CHAT_PROVISION_RETRY_BATCH_SIZE: '0',
        CHAT_PROVISION_RETRY_BACKOFF_BASE: '0s',
        CHAT_PROVISION_RETRY_POLLING_INTERVAL: '60',
        OUTBOX_RELAY: 'rabbit',
        OUTBOX_TOPC: 'x',
        HTTP_PORT: '70000',
      }),
    ).toEqual([
      expect.stringMatching(/_POLLING_INTERVAL must be a duration .* 500ms.*, not "60"$/),
      'CHAT_PROVISION_RETRY_BATCH_SIZE must be a whole number from 1 to 10000, not "0"',
      expect.stringMatching(/_BACKOFF_BASE must be a duration above 0/),
      'OUTBOX_RELAY must be one of kafka, stdout, off, not "rabbit"',
      'HTTP_PORT must be a whole number from 0 to 65535, not "70000"',
      'DATABASE_URL is required: postgres://user:password@host:5432/database',
      'OUTBOX_TOPC is not an option; did you mean OUTBOX_TOPIC?',
    ])
  })

  it.each([
    [{ OUTBOX_MAX_ATTEMPTS: '2147483648' }, /a whole number from 1 to 2147483647/],
    [{ CHAT_PROVISION_RETRY_BACKOFF_FACTOR: '0.5' }, /a number from 1 to 1\.79\d*e\+308/],
    [{ CHAT_PROVISION_RETRY_LOCK_TTL: '3m' }, /LOCK_TTL must be above .*MAX_RUN_DURATION/],
    [{ CHAT_PROVISION_RETRY_BACKOFF_CAP: '59s' }, /BACKOFF_CAP must be at least .*BACKOFF_BASE/],
    [{ CHOKAQ_HEARTBEAT_MIN: '13s' }, /HEARTBEAT_MAX must be at least CHOKAQ_HEARTBEAT_MIN/],
    [{ CHOKAQ_ZOMBIE_TIMEOUT: '12s' }, /ZOMBIE_TIMEOUT must be above CHOKAQ_HEARTBEAT_MAX/],
    [{ CHOKAQ_QUEUES: 'a:zombieTimeout=1s' }, /CHOKAQ_QUEUES must give a a zombieTimeout/],
    [{ KAFKA_SASL_MECHANISM: 'plain' }, /KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set/],
    [{ KAFKA_SASL_PASSWORD: 'x' }, /KAFKA_SASL_MECHANISM and KAFKA_SASL_USERNAME must be set/],
    [{ KAFKA_SSL_CA_FILE: '/etc/hosts' }, /KAFKA_SSL must be true/],
    [{ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: '/no/ca' }, /can't be read: \/no\/ca \(ENOENT\)/],
    [{ DECK_READ_TOKEN: 'same', DECK_ADMIN_TOKEN: 'same' }, /DECK_ADMIN_TOKEN must differ/],
    [{ INTAKE_ENABLED: 'true', INTAKE_TOPIC: 't', OUTBOX_TOPIC: 't' }, /INTAKE_TOPIC must differ/],
  ])('between options: %o', (env, fault) => {
    expect(faultsOf({ ...required, ...env })).toEqual([expect.stringMatching(fault)])
  })

  it('never quote a secret', () => {
    const faults = faultsOf({
      DATABASE_URL: 'mysql://svc:s3cret@db/app',
      LOCK_DATABASE_URL: 'postgres://svc:s3cret@db:port/app',
      KAFKA_BROKERS: 'svc:s3cret@kafka:9092',
      DECK_READ_TOKEN: 's3cret\n',
    })
    expect(faults).toHaveLength(4)
    expect(faults.join()).not.toContain('s3cret')
  })
})

describe('names', () => {
  it.each([
    ['CHAT_PROVISION_RETRY_BACHSIZE', 'CHAT_PROVISION_RETRY_BATCH_SIZE'],
    ['OUTBOX_POLLING_INTERVAL', 'OUTBOX_POLL_INTERVAL'],
    ['DECK_ADMIN_TOKEN_FIL', 'DECK_ADMIN_TOKEN_FILE'],
    ['CHOKAQ_QUEUE', 'CHOKAQ_QUEUES'],
    ['INTAKE_GROUPID', 'INTAKE_GROUP_ID'],
  ])('%s is a fault that suggests %s', (name, meant) => {
    expect(faultsOf({ ...required, [name]: 'x' })).toEqual([
      `${name} is not an option; did you mean ${meant}?`,
    ])
  })

  it('lists the options where none comes close', () => {
    expect(faultsOf({ ...required, INTAKE_MAX_POLL_RECORDS: '1' })).toEqual([
      'INTAKE_MAX_POLL_RECORDS is not an option; ' +
        'allowed are INTAKE_ENABLED, INTAKE_TOPIC, INTAKE_GROUP_ID',
    ])
  })

  it('warns of a near miss of another name, and of nothing else', () => {
    const env = { DATABSE_URL: 'x', KAFKA_BROKER: 'x', database_url_file: 'x', LOG_LEVL: 'x' }
    expect(configWarnings({ ...env, PATH: '/bin', HOME: '/', PGHOST: 'x' })).toEqual([
      'DATABSE_URL is not an option and is ignored; did you mean DATABASE_URL?',
      'KAFKA_BROKER is not an option and is ignored; did you mean KAFKA_BROKERS?',
      'database_url_file is not an option and is ignored; did you mean DATABASE_URL_FILE?',
      'LOG_LEVL is not an option and is ignored; did you mean LOG_LEVEL?',
    ])
    expect(configWarnings({ HTTPS_PORT: '443', HTTP_PORT: '80' })).toEqual([])
  })
})

describe('NAME_FILE', () => {
  it('reads the value, without the newline at its end', () => {
    const file = fileWith(`${required.DATABASE_URL}\n`)
    const env = { DATABASE_URL_FILE: file, KAFKA_BROKERS_FILE: fileWith('k:1\r\n') }
    const config = loadConfig(env, everything)
    expect(config.database.url).toBe(required.DATABASE_URL)
    expect(config.kafka.brokers).toEqual(['k:1'])
  })

  it('is a fault beside NAME, when unreadable, when empty, and for a path', () => {
    const empty = fileWith('\n')
    expect(
      faultsOf({
        ...required,
        DATABASE_URL_FILE: fileWith('x'),
        DECK_READ_TOKEN_FILE: '/no/such/file',
        KAFKA_CLIENT_ID_FILE: empty,
        KAFKA_SSL_CA_FILE_FILE: '/etc/ca',
      }),
    ).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set: keep one of them',
      `KAFKA_CLIENT_ID_FILE names an empty file: ${empty}`,
      "DECK_READ_TOKEN_FILE names a file that can't be read: /no/such/file (ENOENT)",
      'KAFKA_SSL_CA_FILE_FILE is not an option: KAFKA_SSL_CA_FILE is the path of a file already',
    ])
  })

  it('is not opened for what the command does not use', () => {
    expect(faultsOf({ KAFKA_SASL_PASSWORD_FILE: '/no/such/file' }, nothing)).toEqual([])
  })
})
