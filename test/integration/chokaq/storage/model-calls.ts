/** Calls of a storage by chance; jobs and leases are spoken of by their numbers. */

import fc from 'fast-check'

const queues = ['a', 'b'] as const
const owners = ['w1', 'w2'] as const

export type Call =
  | {
      readonly kind: 'enqueue'
      readonly queue: string
      readonly priority: number
      readonly key: number
    }
  | {
      readonly kind: 'fetch'
      readonly owner: string
      readonly limit: number
      readonly start: boolean
    }
  | { readonly kind: Step; readonly lease: number }
  | { readonly kind: Act; readonly job: number }
  | { readonly kind: 'giveBackLost'; readonly owner: string; readonly known: number }
  | { readonly kind: 'rescue'; readonly what: 'fetched' | 'running' }
  | { readonly kind: 'limit'; readonly queue: string; readonly maxWorkers: number | null }
  | { readonly kind: 'pause'; readonly queue: string; readonly paused: boolean }
  | { readonly kind: 'wait' }

type Step = (typeof steps)[number]
type Act = (typeof acts)[number]
const steps = ['start', 'start', 'beat', 'succeed', 'retry', 'die', 'giveBack'] as const
const acts = ['cancel', 'resurrect', 'raise'] as const

export const anyCall: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('enqueue' as const),
      queue: fc.constantFrom(...queues),
      priority: fc.constantFrom(1, 10, 10, 90),
      key: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('fetch' as const),
      owner: fc.constantFrom(...owners),
      limit: fc.integer({ min: 1, max: 4 }),
      start: fc.boolean(),
    }),
  },
  { weight: 7, arbitrary: fc.record({ kind: fc.constantFrom(...steps), lease: fc.nat(7) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom(...acts), job: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('giveBackLost' as const),
      owner: fc.constantFrom(...owners),
      known: fc.nat(4),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rescue' as const),
      what: fc.constantFrom('fetched' as const, 'running' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      queue: fc.constantFrom(...queues),
      maxWorkers: fc.constantFrom(1, 2, null),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      queue: fc.constantFrom(...queues),
      paused: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
)
