/** Rounds of chaos: deals of all kinds, faults by chance, then calm, then the invariants. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { setChatFault } from '../../src/demo/chat-faults.js'
import { seedDeal, type DealSeed } from '../support/deals.js'
import { waitFor } from '../support/wait-for.js'
import { faults, type Random } from './faults.js'
import { violations } from './invariants.js'
import { maxAttempts, type World } from './world.js'

export interface StormOptions {
  readonly rounds: number
  readonly dealsPerRound: number
  readonly faultsPerRound: number
  readonly random: Random
}

export interface StormReport {
  /** How often each fault was tried. */
  readonly tried: ReadonlyMap<string, number>
  readonly deals: number
  readonly violations: readonly string[]
}

/** Far above what a round takes on two busy cores; reached only where something stands still. */
const calmWithinMs = 120_000

/** Small, repeatable generator (mulberry32), so that a printed seed gives the same storm again. */
export function seededRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function runStorm(world: World, options: StormOptions): Promise<StormReport> {
  const { random, faultsPerRound } = options
  const portion = Math.ceil(options.dealsPerRound / faultsPerRound)
  const tried = new Map<string, number>()
  const found: string[] = []
  const fed: FedDeal[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    for (let n = 0; n < faultsPerRound; n += 1) {
      // Each fault in its turn first, then by chance: a short storm meets as many as it can.
      const turn = round * faultsPerRound + n
      const fault = faults[turn < faults.length ? turn : Math.floor(random() * faults.length)]
      if (fault === undefined) continue
      tried.set(fault.name, (tried.get(fault.name) ?? 0) + 1)
      // Deals keep coming while it lasts, so that it meets rows in every state.
      const [deals] = await Promise.all([
        feed(world, portion, random),
        fault.inflict(world, random),
      ])
      fed.push(...deals)
    }
    await calm(world)
    const wrong = [...(await violations(world)), ...(await misplaced(world, fed))]
    for (const violation of wrong) found.push(`round ${round}: ${violation}`)
  }
  return { tried, deals: fed.length, violations: found }
}

interface FedDeal {
  readonly dealId: string
  /** Can never be finished, so it must end Failed; all others must end Ready. */
  readonly poison: boolean
}

const poisonStates = ['23514', '22001', '40P01', '40001', '57P01'] as const

async function feed(world: World, deals: number, random: Random): Promise<FedDeal[]> {
  const fed: FedDeal[] = []
  for (let n = 0; n < deals; n += 1) {
    const dealId = randomUUID()
    const status = random() < 0.3 ? 'Provisioning' : 'Failed'
    const [blank, faulty] = [random() < 0.03, random() < 0.03]
    const sqlstate = poisonStates[Math.floor(random() * poisonStates.length)] ?? '23514'
    const seed: DealSeed = { dealId, status, age: '1 hour', ...(blank && { title: ' ' }) }
    await waitFor('a deal to be fed', async () => {
      if (await isThere(world, dealId)) return true
      await world.admin.transaction().execute(async (trx) => {
        if (faulty) await setChatFault(trx, { dealId, sqlstate })
        await seedDeal(trx, seed)
      })
      return true
    })
    fed.push({ dealId, poison: blank || faulty })
  }
  return fed
}

/** A commit whose answer was lost may have happened. */
async function isThere(world: World, dealId: string): Promise<boolean> {
  const row = await world.admin
    .selectFrom('messenger.deal_chat_provisions')
    .select('id')
    .where('deal_id', '=', dealId)
    .executeTakeFirst()
  return row !== undefined
}

async function misplaced(world: World, fed: readonly FedDeal[]): Promise<string[]> {
  const rows = await world.admin
    .selectFrom('messenger.deal_chat_provisions')
    .select(['deal_id', 'status', 'attempts', 'last_error'])
    .execute()
  const states = new Map(rows.map((row) => [row.deal_id, row]))
  return fed.flatMap(({ dealId, poison }) => {
    const state = states.get(dealId)
    if (state?.status === (poison ? 'Failed' : 'Ready')) return []
    const what = poison ? 'poison' : 'good'
    return [`a ${what} deal ended ${state?.status} (${state?.last_error}): ${dealId}`]
  })
}

/** Every row Ready or out of attempts, every event published. */
async function calm(world: World): Promise<void> {
  await waitFor(
    'calm after the storm',
    async () => {
      const { rows } = await sql<{ open: number; waiting: number }>`
        select
          (select count(*)::int from messenger.deal_chat_provisions where status <> 'Ready'
            and not (status = 'Failed' and attempts >= ${maxAttempts})) as open,
          (select count(*)::int from messenger.outbox_events where published_at is null) as waiting
      `.execute(world.admin)
      return rows[0]?.open === 0 && rows[0].waiting === 0
    },
    { timeoutMs: calmWithinMs },
  )
}
