/** A short storm of every fault; the long one is \`npm run test:chaos\`. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { faults } from '../chaos/faults.js'
import { locksLeft } from '../chaos/invariants.js'
import { runStorm, seededRandom } from '../chaos/storm.js'
import { World } from '../chaos/world.js'
import { describeWithKafka } from '../support/kafka.js'
import { seedOf } from '../support/seed.js'

const seed = seedOf('CHAOS_SEED')

describeWithKafka('a short storm of every fault', () => {
  let world: World
  beforeAll(async () => {
    world = await World.create(2)
  })
  afterAll(() => world.stop())

  it(`loses nothing and doubles nothing (CHAOS_SEED=${seed})`, async () => {
    const report = await runStorm(world, {
      rounds: 2,
      dealsPerRound: 80,
      faultsPerRound: Math.ceil(faults.length / 2),
      random: seededRandom(seed),
    })
    expect(report.violations).toEqual([])
    expect([...report.tried.keys()].sort()).toEqual(faults.map((fault) => fault.name).sort())
    await world.stopInstances()
    expect(await locksLeft(world)).toBe(0)
  }, 240_000)
})
