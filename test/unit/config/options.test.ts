/** Each option by itself: what it takes, what it refuses, and what the table says of it. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../../src/config/duration.js'
import { options, optionTable, type OptionName } from '../../../src/config/options.js'

const durations = { good: ['1ms', '500ms', '60s', '5m', '2h', '24d'], bad: ['0s', '25d'] }
const longDurations = { good: ['1ms', '25d', '36500d'], bad: ['0d', '36501d'] }
const never = ['-1', '+1', '1e3', ' 1', '1 ', '0x1', 'NaN', 'Infinity', '']
const attempts = { good: ['1', '2147483647'], bad: ['0', '1.5', '2147483648', ...never] }
const batches = { good: ['1', '10000'], bad: ['0', '10001', '1.5', ...never] }
const flags = { good: ['true', 'false'], bad: ['TRUE', '1', 'yes', ''] }
const urls = {
  good: ['postgres://u:p@h:5432/d', 'postgresql://h/d', 'postgres:///d?host=/var/run/postgresql'],
  bad: ['h:5432/d', 'http://h/d', 'postgres://h:99999/d', ''],
}
const topics = {
  good: ['a', 'pin.crm.deal-created.v1', 'A_b', 'x'.repeat(249)],
  bad: ['', '.', '..', 'a b', 'a/b', 'é', 'x'.repeat(250)],
}
const tokens = { good: ['t', 'a-b.c_d~'], bad: ['', 'a b', 'é', 'a\n'] }

const cases: Record<OptionName, { good: readonly string[]; bad: readonly string[] }> = {
  DATABASE_URL: urls,
  LOCK_DATABASE_URL: urls,
  CHAT_PROVISION_RETRY_POLLING_INTERVAL: longDurations,
  CHAT_PROVISION_RETRY_BATCH_SIZE: batches,
  CHAT_PROVISION_RETRY_MAX_ATTEMPTS: attempts,
  CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: longDurations,
  CHAT_PROVISION_RETRY_BACKOFF_BASE: longDurations,
  CHAT_PROVISION_RETRY_BACKOFF_FACTOR: { good: ['1', '1.0', '2.5'], bad: ['0.9', '.5', ...never] },
  CHAT_PROVISION_RETRY_BACKOFF_CAP: longDurations,
  CHAT_PROVISION_RETRY_BACKOFF_JITTER: { good: ['0', '0.2', '1'], bad: ['1.1', '-0.1', ''] },
  CHAT_PROVISION_RETRY_LOCK_TTL: durations,
  CHAT_PROVISION_RETRY_MAX_RUN_DURATION: durations,
  CHAT_PROVISION_RETRY_CONCURRENCY: { good: ['1', '64'], bad: ['0', '65', ...never] },
  CHAT_PROVISION_RETRY_PARTICIPANT_ROLES: {
    good: ['Owner', 'Owner, Member'],
    bad: ['', 'Owner,', 'Owner,Owner', 'Sales Lead', 'x'.repeat(33)],
  },
  CHAT_PROVISION_RETRY_RUNS_RETENTION: longDurations,
  KAFKA_BROKERS: {
    good: ['kafka:9092', '10.0.0.1:9092, b-2.example:1'],
    bad: ['', 'kafka', 'kafka:0', 'kafka:65536', 'kafka:9092,', 'kafka://k:1', '[::1]:9092'],
  },
  KAFKA_CLIENT_ID: { good: ['a', 'a.b-c'], bad: ['', 'a b', 'x'.repeat(250)] },
  KAFKA_SSL: flags,
  KAFKA_SSL_CA_FILE: { good: ['/etc/ca.pem'], bad: ['', ' '] },
  KAFKA_SASL_MECHANISM: { good: ['plain', 'scram-sha-256', 'scram-sha-512'], bad: ['PLAIN', ''] },
  KAFKA_SASL_USERNAME: { good: ['a', 'a b'], bad: ['', ' '] },
  KAFKA_SASL_PASSWORD: { good: ['a', 'p w'], bad: ['', ' '] },
  OUTBOX_RELAY: { good: ['kafka', 'stdout', 'off'], bad: ['on', ''] },
  OUTBOX_TOPIC: topics,
  OUTBOX_POLL_INTERVAL: durations,
  OUTBOX_BATCH_SIZE: batches,
  OUTBOX_MAX_ATTEMPTS: attempts,
  OUTBOX_SEND_TIMEOUT: durations,
  OUTBOX_RETENTION: longDurations,
  INTAKE_ENABLED: flags,
  INTAKE_TOPIC: topics,
  INTAKE_GROUP_ID: { good: ['a', 'messenger.intake'], bad: ['', 'a b'] },
  CHOKAQ_POLL_INTERVAL: durations,
  CHOKAQ_BATCH_SIZE: batches,
  CHOKAQ_CONCURRENCY: { good: ['1', '1000'], bad: ['0', '1001', ...never] },
  CHOKAQ_MAX_ATTEMPTS: attempts,
  CHOKAQ_HEARTBEAT_MIN: durations,
  CHOKAQ_HEARTBEAT_MAX: durations,
  CHOKAQ_FETCHED_TIMEOUT: longDurations,
  CHOKAQ_ZOMBIE_TIMEOUT: longDurations,
  // A shorter one would forget on the same day that the day's upkeep was done.
  CHOKAQ_RETENTION: { good: ['1d', '24h', '36500d'], bad: ['5s', '23h', '0d', '36501d'] },
  CHOKAQ_QUEUES: {
    good: ['a', 'a:maxWorkers=3', 'reports:maxWorkers=3,zombieTimeout=40m; b:zombieTimeout=1d;'],
    bad: ['', ';', 'a;;b', 'a:', 'a:maxWorkers=0', 'a:max=3', 'a;a', 'a b', 'a:zombieTimeout=0s'],
  },
  HTTP_HOST: { good: ['127.0.0.1', '::', 'localhost'], bad: ['', 'a b', 'http://a'] },
  HTTP_PORT: { good: ['0', '8080', '65535'], bad: ['65536', ...never] },
  HTTP_TRUSTED_PROXIES: {
    good: ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8, 192.168.0.0/16', '::ffff:10.0.0.1'],
    bad: [
      ...['', '1', 'true', 'loopback', 'proxy.example', '10.0.0.1:80', '10.0.0.1,', 'fe80::1%eth0'],
      ...['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/255.0.0.0', '10.0.0.1,10.0.0.1'],
      // Anybody could then say to be anybody.
      ...['0.0.0.0/0', '::/0'],
    ],
  },
  DECK_READ_TOKEN: tokens,
  DECK_ADMIN_TOKEN: tokens,
  LOG_LEVEL: { good: ['trace', 'silent'], bad: ['INFO', 'warning', ''] },
  SHUTDOWN_GRACE: durations,
}

describe.each(Object.entries(cases) as [OptionName, (typeof cases)[OptionName]][])(
  '%s',
  (name, { good, bad }) => {
    it('takes what is allowed and refuses the rest', () => {
      const takes = (text: string) => options[name].kind.parse(text) !== undefined
      expect(good.filter((text) => !takes(text))).toEqual([])
      expect(bad.filter(takes)).toEqual([])
    })
  },
)

describe('the table', () => {
  it('has only defaults that its own parsers take', () => {
    for (const option of Object.values(options)) {
      if ('default' in option) expect(option.kind.parse(option.default)).toBeDefined()
    }
  })

  it('shows every option, its default as one would write it, and secrets as such', () => {
    const rows = optionTable()
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(cases))
    expect(rows.find(({ name }) => name === 'LOCK_DATABASE_URL')).toMatchObject({
      default: 'DATABASE_URL',
      secret: true,
    })
    for (const row of rows) expect(row.about).not.toBe('')
  })
})

describe('queues', () => {
  it('are parsed as written', () => {
    expect(options.CHOKAQ_QUEUES.kind.parse('reports:maxWorkers=3,zombieTimeout=40m;mail')).toEqual(
      [
        { name: 'reports', maxWorkers: 3, zombieTimeoutMs: 2_400_000 },
        { name: 'mail', maxWorkers: undefined, zombieTimeoutMs: undefined },
      ],
    )
  })
})

describe('durations', () => {
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
  const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]))

  it('are exact in every unit', () => {
    fc.assert(
      fc.property(fc.nat(100_000), unit, (amount, name) => {
        expect(parseDuration(`${amount}${name}`)).toBe(amount * units[name])
      }),
    )
  })

  it('are nothing else', () => {
    const text = fc.string().filter((candidate) => !/^\d+(ms|s|m|h|d)$/.test(candidate))
    fc.assert(fc.property(text, (candidate) => parseDuration(candidate) === undefined))
    for (const candidate of ['60', '1.5m', '-1s', '1 s', '1S', '1m30s', 's', '1w', '١s', '1s\n']) {
      expect(parseDuration(candidate)).toBeUndefined()
    }
  })

  it('stay above 2^31 ms what they are, for the polling interval', () => {
    expect(options.CHAT_PROVISION_RETRY_POLLING_INTERVAL.kind.parse('30d')).toBe(2_592_000_000)
  })
})
