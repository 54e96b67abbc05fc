/** The service alone, without a messenger: deal-created in, chat made, status out; kill and stop. */

import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, expect, it, vi } from 'vitest'
import { startCli, type RunningCli } from '../support/cli.js'
import { dealState, readyDeal } from '../support/deals.js'
import { createTopic, describeWithKafka, kafkaBrokers, readTopic } from '../support/kafka.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { dealCreated } from './intake-fixtures.js'
import { deals, produce } from './intake-kafka-fixtures.js'

/** Two starts and a takeover. */
vi.setConfig({ testTimeout: 3 * 40_000 })

const database = useTestDatabase()
const running: RunningCli[] = []

/** A process starts, a broker may be starting too, and its coordinator with the first group. */
const beginning = 40_000
/** The group waits this long for a member that was killed, and then some for the new one's join. */
const takeover = 40_000

afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.child.kill('SIGKILL')
    await cli.exited
  }
  await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
    messenger.outbox_events, messenger.chats, messenger.participants, messenger.chat_events
  `.execute(database().admin)
})

interface Topics {
  readonly from: string
  readonly to: string
  readonly groupId: string
}

async function topics(): Promise<Topics> {
  const groupId = `test.${randomBytes(6).toString('hex')}`
  return { from: await createTopic({ partitions: 2 }), to: await createTopic(), groupId }
}

async function serve({ from, to, groupId }: Topics): Promise<RunningCli> {
  const cli = startCli(['serve'], {
    DATABASE_URL: database().url,
    KAFKA_BROKERS: (await kafkaBrokers()).join(','),
    OUTBOX_TOPIC: to,
    INTAKE_ENABLED: 'true',
    INTAKE_TOPIC: from,
    INTAKE_GROUP_ID: groupId,
    HTTP_PORT: '0',
  })
  running.push(cli)
  return cli
}

async function readiness(cli: RunningCli): Promise<string> {
  const { address } = await cli.logged('http listening')
  const response = await fetch(`${String(address)}/readyz`)
  return `${response.status} ${await response.text()}`
}

function untilReady(cli: RunningCli): Promise<unknown> {
  return waitFor('readiness', async () => (await readiness(cli)).startsWith('200'), {
    timeoutMs: beginning,
  })
}

describeWithKafka('serve with the intake', () => {
  it('makes the chat of a deal-created and tells crm, with no job and no messenger', async () => {
    const around = await topics()
    const cli = await serve(around)
    await untilReady(cli)
    const message = dealCreated()
    await produce(around.from, [message])
    await cli.logged('outbox published', beginning)

    const { chatId } = await dealState(database().admin, message.dealId)
    expect(await dealState(database().admin, message.dealId)).toMatchObject({
      ...readyDeal,
      attempts: 0,
    })
    const told = await readTopic(around.to)
    expect(told).toMatchObject([{ key: message.dealId }])
    expect(JSON.parse(String(told[0]?.value))).toMatchObject({
      DealId: message.dealId,
      ChatId: chatId,
      Status: 'Ready',
    })
    const metrics = await fetch(
      `${String((await cli.logged('http listening'))['address'])}/metrics`,
    )
    expect(await metrics.text()).toMatch(/^messenger_chat_provision_succeeded_total 1$/m)
  })

  it('is not ready while its topic is missing, and says which', async () => {
    const around = { ...(await topics()), from: `test.none.${randomBytes(4).toString('hex')}` }
    const cli = await serve(around)
    await cli.logged('intake waits for kafka', beginning)
    expect(await readiness(cli)).toMatch(/^503 .*intake: .*UNKNOWN_TOPIC/)
    expect(cli.child.exitCode).toBeNull()
  })

  it('killed in the middle of a message: the message comes again, once in effect', async () => {
    const around = await topics()
    const cli = await serve(around)
    const message = dealCreated()
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(message.dealId)
    await produce(around.from, [message])
    await untilReady(cli)
    await untilBlocked(database(), 'chat-provision-retry consumer')
    cli.child.kill('SIGKILL')
    await cli.exited
    await rival.rollback()
    expect(await database().query('select id from messenger.deal_chat_provisions')).toEqual([])

    const next = await serve(around)
    await next.logged('chat provisioned', takeover)
    expect(await dealState(database().admin, message.dealId)).toMatchObject({
      ...readyDeal,
      attempts: 0,
    })
  })

  it('SIGTERM while messages flow: exit 0, each deal whole or not at all, the rest is next', async () => {
    const around = await topics()
    await produce(around.from, deals(150))
    const first = await serve(around)
    await first.logged('chat provisioned', beginning)
    first.child.kill('SIGTERM')
    expect(await first.exited).toBe(0)
    const [whole] = await database().query(
      `select count(*)::int as provisions, count(*) filter (where status = 'Ready')::int as ready,
         (select count(*)::int from messenger.chats) as chats,
         (select count(*)::int from messenger.outbox_events) as events
       from messenger.deal_chat_provisions`,
    )
    const n = Number(whole?.['ready'])
    expect(whole).toEqual({ provisions: n, ready: n, chats: n, events: n })

    await serve(around)
    await waitFor(
      'all deals',
      async () => {
        const [row] = await database().query(
          `select count(*)::int as ready from messenger.deal_chat_provisions where status = 'Ready'`,
        )
        return row?.['ready'] === 150
      },
      { timeoutMs: 40_000 },
    )
  })
})
