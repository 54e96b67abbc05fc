/** `doctor` on real servers: options, addresses, locks and clocks, in order and not. */

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { lockKeys, tryAcquireSessionLock } from '../../src/postgres/session-lock.js'
import { seedDeal } from '../support/deals.js'
import { databaseChecks, expectOnly, useDoctor } from '../support/doctor.js'
import { describeWithPgbouncer, startPgbouncer, type Pgbouncer } from '../support/pgbouncer.js'
import { Rival } from '../support/rival.js'
import { startTcpProxy } from '../support/tcp-proxy.js'
import { createTestDatabase, useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const { examine, examineWith } = useDoctor(database)

describe('in good order', () => {
  it('each check says so, and there is nothing to mend', async () => {
    await seedDeal(database().admin)
    await seedDeal(database().admin, { status: 'Provisioning', age: '-1 hour', attempts: 10 })
    const findings = await examine()
    expect(Object.keys(findings)).toEqual(['options', ...databaseChecks, 'broker'])
    for (const check of ['options', ...databaseChecks.slice(0, -1)]) {
      expect(findings[check]).toMatchObject({ status: 'ok', mend: null })
    }
    // Nobody needs a slot, or a broker, where events go to stdout.
    expect(findings['replication slot']).toMatchObject({ status: 'skipped' })
    expect(findings['broker']).toMatchObject({ status: 'skipped' })
  })
})

describe('options', () => {
  it('that are wrong are all told, and the database is looked at all the same', async () => {
    const findings = await examine({
      CHAT_PROVISION_RETRY_BATCH_SIZE: '0',
      CHAT_PROVISION_RETRY_POLING_INTERVAL: '60s',
    })
    expect(findings['options']).toMatchObject({ status: 'failed' })
    expect(findings['options']?.found).toContain('BATCH_SIZE')
    expect(findings['options']?.found).toContain('POLLING_INTERVAL')
    expect(findings['rows']).toMatchObject({ status: 'ok' })
    expectOnly(findings, 'options')
  })

  it('that do not go together likewise', async () => {
    const findings = await examine({ CHAT_PROVISION_RETRY_LOCK_TTL: '1m' })
    expect(findings['options']?.found).toContain('MAX_RUN_DURATION')
    expectOnly(findings, 'options')
  })

  it('without an address: what can not be looked at says why', async () => {
    const findings = await examine({ DATABASE_URL: '' })
    expect(findings['options']?.found).toContain('DATABASE_URL is required')
    expect(findings['schema']).toMatchObject({ status: 'skipped' })
    expect(findings['schema']?.found).toContain('see options')
  })

  it('that let others reach the port without a token: what is off then, and how to have it', async () => {
    const findings = await examine({ HTTP_HOST: '0.0.0.0' })
    expect(findings['options']).toMatchObject({
      status: 'warning',
      found:
        'HTTP_HOST is 0.0.0.0: The Deck and the API are off until DECK_READ_TOKEN or DECK_ADMIN_TOKEN is set',
    })
    expect(findings['options']?.mend).toMatch(
      /DECK_ADMIN_TOKEN.*openssl rand.*HTTP_HOST=127\.0\.0\.1/,
    )
    expectOnly(findings, 'options')
    const token = '0f6a2c9d4b8e1735'
    for (const name of ['DECK_READ_TOKEN', 'DECK_ADMIN_TOKEN'])
      expectOnly(await examine({ HTTP_HOST: '0.0.0.0', [name]: token }))
  })

  it('with a name that nearly hits one: a warning', async () => {
    const findings = await examine({ HTPP_PORT: '1' })
    expect(findings['options']).toMatchObject({ status: 'warning' })
    expect(findings['options']?.found).toContain('HTTP_PORT')
  })
})

describe('the database', () => {
  it('that is away: said once, without the password, and the rest is marked', async () => {
    const findings = await examine({ DATABASE_URL: 'postgres://someone:s3cret@127.0.0.1:1/pin' })
    expectOnly(findings, 'database')
    expect(findings['database']?.found).toContain('ECONNREFUSED')
    expect(findings['database']?.mend).toContain('DATABASE_URL')
    expect(JSON.stringify(findings)).not.toContain('s3cret')
    for (const check of databaseChecks.slice(1))
      expect(findings[check]).toMatchObject({ status: 'skipped' })
  })

  it('that no longer answers is not waited for beyond the limit', async () => {
    const proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
    const url = new URL(database().url)
    url.port = String(proxy.port)
    proxy.pauseResponses()
    const startedAt = performance.now()
    const findings = await examine({ DATABASE_URL: url.href })
    await proxy.stop()
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    expectOnly(findings, 'database')
  })

  it('that takes no writes', async () => {
    const { name } = database()
    const findings = await examineWith(
      `alter database ${name} set default_transaction_read_only = on`,
      `set default_transaction_read_only = off;
       alter database ${name} reset default_transaction_read_only`,
    )
    expectOnly(findings, 'database')
    expect(findings['database']?.mend).toContain('primary')
  })
})

describe('the lock’s address', () => {
  it('that leads to another database', async () => {
    const other = await createTestDatabase()
    const findings = await examine({ LOCK_DATABASE_URL: other.url })
    await other.close()
    await other.drop()
    expectOnly(findings, 'lock address')
    expect(findings['lock address']?.found).toContain('another database')
  })

  it('that is away is told by its name', async () => {
    const findings = await examine({ LOCK_DATABASE_URL: 'postgres://someone@127.0.0.1:1/pin' })
    expectOnly(findings, 'lock address')
    expect(findings['lock address']?.mend).toContain('LOCK_DATABASE_URL')
  })
})

describeWithPgbouncer('L1: the lock’s address behind a transaction pooler', () => {
  let pooler: Pgbouncer
  beforeAll(async () => {
    pooler = await startPgbouncer({ poolSize: 3 })
  })
  afterAll(() => pooler.stop())

  it('is the one trouble, and LOCK_DATABASE_URL mends it', async () => {
    const url = pooler.url(database().name)
    const findings = await examine({ DATABASE_URL: url })
    expectOnly(findings, 'lock address')
    expect(findings['lock address']?.mend).toContain('LOCK_DATABASE_URL')
    const mended = await examine({ DATABASE_URL: url, LOCK_DATABASE_URL: database().url })
    expect(mended['lock address']).toMatchObject({ status: 'ok' })
  })
})

describe('the locks', () => {
  it('held by an instance of this service are in order', async () => {
    const lock = await tryAcquireSessionLock({
      connectionString: database().url,
      lock: lockKeys.run,
      ttlMs: 60_000,
      applicationName: 'chat-provision-retry run lock',
    })
    const findings = await examine()
    if (lock.held) await lock.release()
    expect(findings['locks']).toMatchObject({ status: 'ok' })
    expect(findings['locks']?.found).toContain('run: chat-provision-retry run lock (pid ')
    expect(findings['locks']?.found).toContain('relay: free')
  })

  it('held by a foreign session: who it is', async () => {
    const rival = await Rival.begin(database().adminUrl)
    const { namespace, key } = lockKeys.run
    await rival.query('select pg_advisory_xact_lock($1, $2)', [namespace, key])
    const findings = await examine()
    await rival.rollback()
    expectOnly(findings, 'locks')
    expect(findings['locks']?.found).toContain('rival (pid ')
  })
})

describe('the clocks', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([
    [300_000, 'ahead of'],
    [-300_000, 'behind'],
  ])('of a host that is %i ms off: a warning with the distance', async (ms, way) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
    const findings = await examine()
    expectOnly(findings, 'clocks')
    expect(findings['clocks']).toMatchObject({ status: 'warning' })
    expect(findings['clocks']?.found).toMatch(
      new RegExp(`the host is (29|30)\\d\\.\\d s ${way} the database`),
    )
  })
})
