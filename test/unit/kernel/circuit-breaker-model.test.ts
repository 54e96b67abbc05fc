/** The breaker by random sequences of commands, against the same thing written as naively as can be. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitLease,
  type CircuitState,
} from '../../../src/chokaq/kernel/circuit-breaker.js'

const failureThreshold = 3
const openMs = 1_000

interface Model {
  openedAt: number | undefined
  failures: number
  /** The lease that probes, by number. */
  probe: number | undefined
  /** Leases that will still be heard: not settled, and no opening or closing since. */
  readonly valid: Set<number>
}

interface Real {
  readonly breaker: CircuitBreaker
  readonly clock: { ms: number }
  readonly leases: CircuitLease[]
}

type Command = fc.Command<Model, Real>
type Report = keyof CircuitLease

function stateOf(model: Model, ms: number): CircuitState {
  if (model.openedAt === undefined) return 'closed'
  return ms < model.openedAt + openMs ? 'open' : 'half-open'
}

function command(name: string, run: (model: Model, real: Real) => void): Command {
  return {
    check: () => true,
    run: (model, real) => {
      run(model, real)
      expect(real.breaker.state).toBe(stateOf(model, real.clock.ms))
    },
    toString: () => name,
  }
}

const acquire = command('acquire', (model, { breaker, clock, leases }) => {
  const state = stateOf(model, clock.ms)
  const lease = breaker.tryAcquire()
  expect(lease !== undefined).toBe(
    state === 'closed' || (state === 'half-open' && model.probe === undefined),
  )
  if (lease === undefined) return
  const number = leases.push(lease) - 1
  model.valid.add(number)
  if (state === 'half-open') model.probe = number
})

/** @param age of the lease, 0 the newest: most are then still of interest */
const report = (what: Report, age: number): Command =>
  command(`${what} by lease -${age}`, (model, { clock, leases }) => {
    const number = leases.length - 1 - age
    leases[number]?.[what]()
    if (!model.valid.delete(number)) return
    const wasProbe = model.probe === number
    if (wasProbe) model.probe = undefined
    if (what === 'succeeded') {
      if (model.openedAt !== undefined) model.valid.clear()
      model.openedAt = undefined
      model.failures = 0
    }
    if (what === 'failed') {
      model.failures += 1
      if (wasProbe || model.failures >= failureThreshold) {
        model.openedAt = clock.ms
        model.valid.clear()
      }
    }
  })

const wait = (ms: number): Command =>
  command(`wait ${ms}`, (_, { clock }) => {
    clock.ms += ms
  })

it('any sequence of commands is answered as the model answers it', () => {
  const reports = fc.constantFrom<Report>('succeeded', 'failed', 'failed', 'failed', 'released')
  const commands = fc.commands(
    [
      fc.constant(acquire),
      fc.tuple(reports, fc.nat(4)).map(([what, age]) => report(what, age)),
      fc.constantFrom(1, openMs / 2, openMs - 1, openMs).map(wait),
    ],
    { maxCommands: 100, size: 'max' },
  )
  fc.assert(
    fc.property(commands, (sequence) => {
      fc.modelRun(() => {
        const clock = { ms: 0 }
        const breaker = createCircuitBreaker({ failureThreshold, openMs, now: () => clock.ms })
        const model: Model = {
          openedAt: undefined,
          failures: 0,
          probe: undefined,
          valid: new Set(),
        }
        return { model, real: { breaker, clock, leases: [] } }
      }, sequence)
    }),
    { numRuns: 100 },
  )
})
