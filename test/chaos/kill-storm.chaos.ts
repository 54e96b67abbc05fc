/** 3,000 rows, two workers, one of them killed every second, five times over: `npm run test:chaos`. */

import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { describeWithKafka } from '../support/kafka.js'
import { keepPart, killsPart, type KillReport } from './fault-page.js'
import { locksLeft, violations } from './invariants.js'
import { World } from './world.js'

const rows = 3_000
const repetitions = 5
/** Of a worker's life, from its first cycle on. */
const killEveryMs = 1_000

describeWithKafka('two workers, one killed every second', () => {
  const reports: KillReport[] = []
  let world: World | undefined
  afterAll(() => keepPart('kills', killsPart(reports)))
  afterEach(async () => {
    await world?.stop()
    world = undefined
  })

  it.each(Array.from({ length: repetitions }, (_, n) => n + 1))(
    'run %i: all Ready, one event each, nothing doubled, no lock left',
    async (run) => {
      world = await World.create(0)
      for (let n = 0; n < rows; n += 1) await seedDeal(world.admin, { age: '1 hour' })
      world.startInstances(2)
      let kills = 0
      while ((await countOpen(world)) > 0) {
        // Else, on a busy machine, it would be killed before it works.
        await world.untilInStride(kills % 2)
        await delay(killEveryMs)
        await world.replace(kills % 2, 'SIGKILL')
        kills += 1
      }
      process.stderr.write(`run ${run}: ${rows} rows, ${kills} kills\n`)
      expect(kills).toBeGreaterThan(2)
      await world.untilPublished()
      const found = await violations(world)
      reports.push({ rows, kills, violations: found })
      expect(found).toEqual([])
      const { rows: counts } = await sql<Record<string, number>>`
        select (select count(*)::int from messenger.deal_chat_provisions where status = 'Ready') as ready,
          (select count(*)::int from messenger.outbox_events) as events,
          (select count(*)::int from messenger.chats) as chats,
          (select count(*)::int from messenger.participants) as participants
      `.execute(world.admin)
      expect(counts).toEqual([{ ready: rows, events: rows, chats: rows, participants: 3 * rows }])
      await world.stopInstances()
      expect(await locksLeft(world)).toBe(0)
    },
    // Two minutes on a quiet machine; each kill takes back what a cycle was about to do.
    15 * 60_000,
  )
})

async function countOpen(world: World): Promise<number> {
  const { rows: counts } = await sql<{ n: number }>`
    select count(*)::int as n from messenger.deal_chat_provisions where status <> 'Ready'
  `.execute(world.admin)
  return counts[0]?.n ?? 0
}
