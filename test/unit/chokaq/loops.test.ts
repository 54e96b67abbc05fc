/** The loops that /healthz watches: old when they stand still, young while they try, outage or not. */

import { describe, expect, it } from 'vitest'
import { waitFor } from '../../support/wait-for.js'
import { gate, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()
const lost = (): Promise<never> => Promise.reject(new Error('connection lost'))

function ages(loops: readonly { readonly name: string; lastTryAgeMs(): number }[]) {
  return Object.fromEntries(loops.map((loop) => [loop.name, loop.lastTryAgeMs()]))
}

describe('the loops of the core', () => {
  it('grow old where a call never comes back, each by itself', async () => {
    let nowMs = 0
    const asked = { fetch: gate(), rescue: gate(), prune: gate() }
    const hang =
      (name: keyof typeof asked): (() => Promise<never>) =>
      () => {
        asked[name].open()
        return new Promise(() => undefined)
      }
    const { core } = createWorld({
      around: (storage) => ({
        ...storage,
        fetch: hang('fetch'),
        rescue: hang('rescue'),
        prune: hang('prune'),
      }),
      now: () => nowMs,
    })
    core.start()
    await Promise.all(Object.values(asked).map(({ opened }) => opened))
    nowMs = 500_000
    expect(ages(core.loops)).toEqual({
      jobs: 500_000,
      'job rescue': 500_000,
      'job retention': 500_000,
    })
  })

  it('stay young while they try, though nothing succeeds', async () => {
    let nowMs = 0
    let tries = 0
    const { core, lines } = createWorld({
      options: { fetchedTimeoutMs: 10 },
      around: (storage) => ({
        ...storage,
        rescue: () => {
          tries += 1
          return lost()
        },
      }),
      now: () => nowMs,
    })
    core.start()
    await waitFor('a first try', () => tries > 0)
    nowMs = 500_000
    await waitFor('a further try', () => ages(core.loops)['job rescue'] === 0)
    expect(lines.filter(({ event }) => event === 'job upkeep failed')).toHaveLength(1)
  })

  it('stay young in a pass of many batches', async () => {
    let nowMs = 0
    let batches = 0
    const { core } = createWorld({
      around: (storage) => ({
        ...storage,
        prune: () => {
          batches += 1
          nowMs += 10_000
          return Promise.resolve(batches < 50 ? 1_000 : 0)
        },
      }),
      now: () => nowMs,
    })
    core.start()
    await waitFor('all batches', () => batches === 50)
    expect(nowMs).toBe(500_000)
    expect(ages(core.loops)['job retention']).toBe(10_000)
  })

  it('are known to their host by the interval at which they try', () => {
    const { core } = createWorld()
    expect(core.loops.map(({ name, intervalMs }) => [name, intervalMs])).toEqual([
      ['jobs', 20],
      ['job rescue', 6_000],
      ['job retention', 60_000],
    ])
  })
})
