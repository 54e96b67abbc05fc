/** The table of states and moves: the seven states, and nothing but the moves between them. */

import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  isLegalMove,
  jobStates,
  mayLeave,
  moves,
  placeOf,
  stateCodes,
  stateOfCode,
  type JobState,
  type MoveName,
  type NextState,
} from '../../../src/chokaq/kernel/job-state.js'

describe('the states', () => {
  it.each([
    ['Pending', 0, 'hot'],
    ['Fetched', 1, 'hot'],
    ['Processing', 2, 'hot'],
    ['Succeeded', 3, 'archive'],
    ['Failed', 4, 'dlq'],
    ['Cancelled', 5, 'dlq'],
    ['Zombie', 6, 'dlq'],
  ] as const)('%s is %d and lies in the %s', (state, code, place) => {
    expect(stateCodes[state]).toBe(code)
    expect(stateOfCode(code)).toBe(state)
    expect(placeOf(state)).toBe(place)
  })

  it('are these seven', () => {
    expect(jobStates).toHaveLength(7)
  })

  it.each([-1, 7, 1.5, NaN])('has none of number %d', (code) => {
    expect(() => stateOfCode(code)).toThrow(`${code} is not the number of a job state`)
  })
})

/** Every pair that some move joins; all others are illegal. */
const legal: readonly (readonly [JobState, JobState])[] = [
  ['Pending', 'Fetched'],
  ['Pending', 'Processing'],
  ['Pending', 'Cancelled'],
  ['Fetched', 'Pending'],
  ['Fetched', 'Processing'],
  ['Fetched', 'Failed'],
  ['Fetched', 'Cancelled'],
  ['Processing', 'Succeeded'],
  ['Processing', 'Pending'],
  ['Processing', 'Failed'],
  ['Processing', 'Cancelled'],
  ['Processing', 'Zombie'],
  ['Failed', 'Pending'],
  ['Cancelled', 'Pending'],
  ['Zombie', 'Pending'],
]

describe('the moves', () => {
  it.each(jobStates.flatMap((from) => jobStates.map((to) => [from, to] as const)))(
    '%s to %s is legal only where the table says so',
    (from, to) => {
      const expected = legal.some((pair) => pair[0] === from && pair[1] === to)
      expect(isLegalMove(from, to)).toBe(expected)
    },
  )

  it('each leaves just the states it names', () => {
    for (const name of Object.keys(moves) as MoveName[]) {
      const left = jobStates.filter((state) => mayLeave(name, state))
      expect(left).toEqual(moves[name].from)
    }
  })

  it('in types, too: an illegal one cannot be written down', () => {
    expectTypeOf<NextState<'Succeeded'>>().toBeNever()
    expectTypeOf<NextState<'Pending'>>().toEqualTypeOf<'Fetched' | 'Processing' | 'Cancelled'>()
    expectTypeOf<NextState<'Zombie'>>().toEqualTypeOf<'Pending'>()
  })

  it('never lead out of the archive, and from everywhere else to an end', () => {
    const reachable = (from: JobState, steps: number): Set<JobState> => {
      const found = new Set([from])
      for (let step = 0; step < steps; step += 1) {
        for (const state of [...found]) {
          for (const next of jobStates) if (isLegalMove(state, next)) found.add(next)
        }
      }
      return found
    }
    expect([...reachable('Succeeded', 7)]).toEqual(['Succeeded'])
    fc.assert(
      fc.property(fc.constantFrom(...jobStates), (from) => {
        expect(reachable(from, 7).has('Succeeded')).toBe(true)
      }),
    )
  })
})
