/** The operations of the model test: each does the same to the model and to the real thing. */

import { randomUUID } from 'node:crypto'
import fc, { type AsyncCommand } from 'fast-check'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { setChatFault } from '../../src/demo/chat-faults.js'
import { seedDeal } from './deals.js'
import {
  die,
  faults,
  newIntention,
  obstacle,
  requeue,
  runCycle,
  takeIn,
  type Model,
  type ModelDeal,
} from './model-deals.js'
import { lookAtDatabase, lookAtModel } from './model-look.js'
import type { World } from './model-world.js'

type Command = AsyncCommand<Model, World>

/** One operation, after which the database must look as the model does. */
function command(name: string, run: (model: Model, world: World) => Promise<void>): Command {
  return {
    check: () => true,
    async run(model, world) {
      await run(model, world)
      const dealIds = model.deals.map(({ dealId }) => dealId)
      expect(await lookAtDatabase(world.admin, dealIds), `after ${name}`).toEqual(
        lookAtModel(model),
      )
    },
    toString: () => name,
  }
}

type DealOperation = (deal: ModelDeal, world: World, model: Model) => Promise<void>

const consumer: Readonly<Record<string, DealOperation>> = {
  async 'deal created'(deal, world) {
    takeIn(deal)
    expect(await world.take(deal)).toBe(true)
  },
  async 'consumer dies'(deal, world) {
    const isLost = deal.intention === undefined && obstacle(deal) === undefined
    if (!isLost) takeIn(deal)
    expect(await world.takeAndLose(deal)).toBe(!isLost)
  },
  async 'another consumer leaves its intention hanging'(deal, world) {
    if (deal.intention !== undefined) return
    deal.intention = newIntention(deal)
    const members = deal.members.map((userId) => ({ userId, role: 'Member' }))
    const { dealId, title } = deal
    await seedDeal(world.admin, { dealId, title, members, status: 'Provisioning', age: '0' })
  },
}

const worker: Readonly<Record<string, DealOperation>> = {
  async 'worker dies over'(deal, world, model) {
    die(model, deal)
    await world.die(deal)
  },
  // As such a row does until it has no attempt left, which single operations seldom come to.
  async 'worker dies at every try of'(deal, world, model) {
    for (let tries = 0; tries <= model.maxAttempts; tries += 1) {
      die(model, deal)
      await world.die(deal)
      await letTimePass(model, world)
    }
  },
}

async function letTimePass(model: Model, { admin }: World): Promise<void> {
  for (const { intention } of model.deals) {
    if (intention !== undefined) Object.assign(intention, { due: true, hangs: true })
  }
  await sql`update messenger.deal_chat_provisions set
    next_attempt_at = next_attempt_at - interval '1 hour',
    updated_at = updated_at - interval '1 hour'`.execute(admin)
}

const operator: Readonly<Record<string, DealOperation>> = {
  async 'operator re-enqueues'(deal, world, model) {
    expect(await world.requeue(deal)).toBe(requeue(model, deal))
  },
}

const messenger: Readonly<Record<string, DealOperation>> = {
  async 'a member is added to'(deal, { admin }) {
    if (deal.intention === undefined) return
    const user = randomUUID()
    deal.intention.listed.add(user)
    await sql`insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
      select id, ${user}, 'Observer' from messenger.deal_chat_provisions
      where deal_id = ${deal.dealId}`.execute(admin)
  },
  async 'a participant leaves'(deal, { admin }) {
    const [user] = deal.chat?.active ?? []
    if (deal.chat === undefined || user === undefined) return
    deal.chat.active.delete(user)
    deal.chat.left.add(user)
    await sql`update messenger.participants set left_at = now() where user_id = ${user}`.execute(
      admin,
    )
  },
  async 'the messenger makes the chat of'(deal, { admin }) {
    if (deal.chat !== undefined) return
    deal.chat = { archived: false, hasFeedRow: false, active: new Set(), left: new Set() }
    // Without its trigger, for the faults are meant for this service.
    await admin.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx)
      await sql`insert into messenger.chats (id, kind, status, deal_id, title)
        values (gen_random_uuid(), 'Deal', 'Active', ${deal.dealId}, 'x')`.execute(trx)
    })
  },
  async 'the chat is archived or taken back'(deal, { admin }) {
    if (deal.chat === undefined) return
    deal.chat.archived = !deal.chat.archived
    const status = deal.chat.archived ? 'Archived' : 'Active'
    await sql`update messenger.chats set status = ${status} where deal_id = ${deal.dealId}`.execute(
      admin,
    )
  },
  async 'Ready is taken back from'(deal, { admin }) {
    if (deal.intention?.status !== 'Ready') return
    Object.assign(deal.intention, { status: 'Failed', attempts: 0, due: true })
    await sql`update messenger.deal_chat_provisions
      set status = 'Failed', attempts = 0, next_attempt_at = now() where deal_id = ${deal.dealId}
    `.execute(admin)
  },
  async 'the fault is mended of'(deal, { admin }) {
    deal.fault = undefined
    await sql`delete from chat_faults.faults where deal_id = ${deal.dealId}`.execute(admin)
  },
}

const cycle = command('a cycle', async (model, world) => {
  const summary = await world.job.cycle()
  expect(summary).toMatchObject({ outcome: 'completed', skipped: 0, ...runCycle(model) })
})

const timePasses = command('time passes', letTimePass)

/** Sequences of operations on `dealCount` deals; failures shrink to the shortest that still fails. */
export function operations(dealCount: number): fc.Arbitrary<Iterable<Command>> {
  const one = (index: number, [name, run]: [string, DealOperation]): Command =>
    command(`${name} #${index}`, async (model, world) => {
      const deal = model.deals[index]
      if (deal !== undefined) await run(deal, world, model)
    })
  const anyDeal = fc.nat(dealCount - 1)
  const of = (table: Readonly<Record<string, DealOperation>>): fc.Arbitrary<Command> =>
    fc.tuple(anyDeal, fc.constantFrom(...Object.entries(table))).map(([n, entry]) => one(n, entry))
  const breaks = fc.tuple(anyDeal, fc.constantFrom(...faults)).map(([n, sqlstate]) =>
    one(n, [
      `fault ${sqlstate} for`,
      async (deal, { admin }) => {
        if (deal.fault !== undefined) return
        deal.fault = sqlstate
        await setChatFault(admin, { dealId: deal.dealId, sqlstate })
      },
    ]),
  )
  return fc.commands(
    [
      ...[of(consumer), of(consumer), of(worker), of(operator), of(messenger), breaks],
      // Without these nothing else would come to anything.
      ...[fc.constant(cycle), fc.constant(cycle), fc.constant(timePasses)],
    ],
    { maxCommands: 40, size: 'max' },
  )
}
