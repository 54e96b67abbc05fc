/**
 * The long storm: `npm run test:chaos`. CHAOS_SEED repeats one, CHAOS_ROUNDS bounds it.
 * With CHAOS_WRITE=1 what was tried is kept in docs/faults.md.
 */

import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithKafka } from '../support/kafka.js'
import { locksLeft } from './invariants.js'
import { keepPart, stormPart } from './fault-page.js'
import { runStorm, seededRandom } from './storm.js'
import { World } from './world.js'

const seed = Number(process.env['CHAOS_SEED'] ?? randomInt(2 ** 31))
const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 15)

describeWithKafka('a storm of every fault', () => {
  let world: World
  beforeAll(async () => {
    world = await World.create(3)
  })
  afterAll(() => world.stop())

  it(
    `loses nothing and doubles nothing (CHAOS_SEED=${seed})`,
    async () => {
      process.stderr.write(`CHAOS_SEED=${seed} CHAOS_ROUNDS=${rounds}\n`)
      const report = await runStorm(world, {
        rounds,
        dealsPerRound: 200,
        faultsPerRound: 5,
        random: seededRandom(seed),
      })
      await keepPart('storm', stormPart(report))
      expect(report.violations).toEqual([])
      await world.stopInstances()
      expect(await locksLeft(world)).toBe(0)
    },
    30 * 60_000,
  )
})
