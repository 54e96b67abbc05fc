/** `serve` from outside: it waits for what is away, answers probes meanwhile, and ends in order. */

import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCli, type RunningCli } from '../support/cli.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { createTopic, describeWithKafka, kafkaBrokers, readTopic } from '../support/kafka.js'
import { Rival } from '../support/rival.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
let proxy: TcpProxy
const running: RunningCli[] = []

beforeEach(async () => {
  proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
})

afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.child.kill('SIGKILL')
    await cli.exited
  }
  await proxy.stop()
  await sql`truncate messenger.deal_chat_provisions cascade`.execute(database().admin)
})

function proxied(): string {
  const url = new URL(database().url)
  url.port = String(proxy.port)
  return url.href
}

function serve(environment: Record<string, string> = {}): RunningCli {
  const cli = startCli(['serve'], {
    DATABASE_URL: proxied(),
    OUTBOX_RELAY: 'stdout',
    CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
    HTTP_PORT: '0',
    ...environment,
  })
  running.push(cli)
  return cli
}

async function address(cli: RunningCli): Promise<string> {
  return String((await cli.logged('http listening'))['address'])
}

async function probe(cli: RunningCli, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${await address(cli)}${path}`)
  return { status: response.status, text: await response.text() }
}

describe('serve', () => {
  it('waits for a database that is away at the start, and says so', async () => {
    proxy.cut()
    const cli = serve()
    await cli.logged('cycle waiting')
    expect(await probe(cli, '/healthz')).toMatchObject({ status: 200 })
    expect(await probe(cli, '/readyz')).toMatchObject({ status: 503 })
    expect((await probe(cli, '/readyz')).text).toContain('database')

    const deal = await seedDeal(database().admin)
    proxy.resume()

    await cli.logged('chat provisioned')
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
    await waitFor('readiness', async () => (await probe(cli, '/readyz')).status === 200)
  })

  it('O1: an outage of many intervals is a line or two of each loop in the log, and the next tick works', async () => {
    const cli = serve()
    await cli.logged('cycle completed')
    const linesBefore = cli.log().length
    proxy.cut()
    await cli.logged('cycle waiting')
    await waitFor('many intervals', () => proxy.refused() > 40)
    expect(await probe(cli, '/healthz')).toMatchObject({ status: 200 })
    const events = cli
      .log()
      .slice(linesBefore)
      .map(({ event }) => event)
    // A loop says it again where the reason changes: lost, reset, refused. A flood would say it ten times.
    const timesAtMost = 4
    const tooOften = events.filter(
      (event) => events.filter((each) => each === event).length > timesAtMost,
    )
    expect(tooOften).toEqual([])

    const deal = await seedDeal(database().admin)
    proxy.resume()
    await cli.logged('chat provisioned')
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
    expect(cli.child.exitCode).toBeNull()
  })

  it('O2: every session ended by the server: the process stays, the next cycle works', async () => {
    const cli = serve()
    await cli.logged('cycle completed')
    const held = await seedDeal(database().admin)
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(held.dealId)
    await waitFor('the row to be under way', async () => {
      const rows = await database().query(
        `select pid from pg_stat_activity where datname = current_database()
           and application_name like 'chat-provision-retry%' and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    const ended = await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'chat-provision-retry%'`,
    )
    expect(ended.length).toBeGreaterThan(2)
    await rival.rollback()

    await cli.logged('chat provisioned')
    expect(await dealState(database().admin, held.dealId)).toMatchObject(readyDeal)
    expect(cli.child.exitCode).toBeNull()
  })

  it('SIGTERM ends it in good order: exit 0, the rows whole, no lock left', async () => {
    for (let n = 0; n < 200; n += 1) await seedDeal(database().admin)
    const cli = serve({ CHAT_PROVISION_RETRY_CONCURRENCY: '2' })
    await cli.logged('chat provisioned')
    cli.child.kill('SIGTERM')
    expect(await cli.exited).toBe(0)

    const [counts] = await database().query(
      `select count(*) filter (where status = 'Ready')::int as ready,
         count(*) filter (where status = 'Failed' and attempts = 0)::int as untouched,
         (select count(*)::int from messenger.outbox_events o
            join messenger.deal_chat_provisions p on p.deal_id = o.aggregate_id) as events
       from messenger.deal_chat_provisions`,
    )
    expect(counts?.['ready']).toBe(counts?.['events'])
    expect(Number(counts?.['ready']) + Number(counts?.['untouched'])).toBe(200)
    const locks = await database().query(
      `select pid from pg_locks where locktype = 'advisory'
         and database = (select oid from pg_database where datname = current_database())`,
    )
    expect(locks).toEqual([])
    const [run] = await database().query(
      'select finished_at is not null as closed from messenger.chat_provision_runs order by started_at desc limit 1',
    )
    expect(run).toEqual({ closed: true })
  })

  it('a port in use is said in one line, and the process ends', async () => {
    const first = serve()
    const port = new URL(await address(first)).port
    const second = serve({ HTTP_PORT: port })
    expect(await second.exited).toBe(2)
    expect(second.stderr()).toMatch(/\nerror: .*HTTP_PORT/)
  })
})

describeWithKafka('serve with Kafka', () => {
  it('the event of a deal that had failed arrives on the topic', async () => {
    const topic = await createTopic()
    const deal = await seedDeal(database().admin)
    const cli = serve({
      OUTBOX_RELAY: 'kafka',
      OUTBOX_TOPIC: topic,
      KAFKA_BROKERS: (await kafkaBrokers()).join(','),
    })
    await cli.logged('outbox published')
    const [message] = await readTopic(topic)
    const { chatId } = await dealState(database().admin, deal.dealId)
    expect(message).toMatchObject({ key: deal.dealId })
    expect(JSON.parse(String(message?.value))).toMatchObject({
      DealId: deal.dealId,
      ChatId: chatId,
      Status: 'Ready',
    })
    await waitFor('readiness', async () => (await probe(cli, '/readyz')).status === 200)
    const metrics = await probe(cli, '/metrics')
    expect(metrics.text).toMatch(/^messenger_chat_provision_succeeded_total 1$/m)
    expect(metrics.text).toMatch(/^messenger_outbox_published_total 1$/m)
  })
})
