/** Every way of a row that fails: what is tried again, how often and after how long, what is recorded. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GuardRejection } from '../../../src/provisioning/guards.js'
import { retryInPlace, type AttemptOutcome } from '../../../src/provisioning/retry-in-place.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const provisioned: AttemptOutcome = { kind: 'provisioned', chatId: 'c', attempts: 1 }

const withCode = (code: string): Error => Object.assign(new Error(code), { code })
const deadlock = withCode('40P01')
const sessionEnded = withCode('57P01')
const own = withCode('23514')

interface Setting {
  /** What the work throws, in this order; then it succeeds. */
  readonly failures: readonly unknown[]
  readonly random?: number
  /** How often the cycle may still go on; default always. */
  readonly mayGoOnTimes?: number
  /** The probes' answers, in this order; the last one for good. Default true. */
  readonly probes?: readonly boolean[]
  readonly recordThrows?: Error
}

/** Runs it to its end on the fake clock, and says what was done, and when. */
async function retrying(setting: Setting) {
  const { failures, random = 0, mayGoOnTimes = Infinity, probes = [true] } = setting
  const startedAt = Date.now()
  /** Milliseconds from the start at which the work was tried. */
  const tries: number[] = []
  const recorded: { failure: object; error: unknown }[] = []
  let probed = 0
  let asked = 0
  const ended = retryInPlace(
    {
      random: () => random,
      mayGoOn: () => asked++ < mayGoOnTimes,
      probe: () => Promise.resolve(probes[Math.min(probed++, probes.length - 1)] === true),
    },
    () => {
      const failure = failures[tries.length]
      tries.push(Date.now() - startedAt)
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- anything may be thrown
      return failure === undefined ? Promise.resolve(provisioned) : Promise.reject(failure)
    },
    (failure, error) => {
      recorded.push({ failure, error })
      if (setting.recordThrows !== undefined) return Promise.reject(setting.recordThrows)
      return Promise.resolve({ kind: 'retried', failure, attempts: 1 })
    },
  ).catch((error: unknown) => ({ kind: 'rejected' as const, error }))
  await vi.runAllTimersAsync()
  return { outcome: await ended, tries, recorded, probed, asked }
}

const nothingElse = { recorded: [], probed: 0, asked: 0 }
const times = <T>(n: number, of: T): T[] => Array<T>(n).fill(of)

it('work that succeeds is done once', async () => {
  expect(await retrying({ failures: [] })).toEqual({
    outcome: provisioned,
    tries: [0],
    ...nothingElse,
  })
})

describe('a row’s own failure', () => {
  it.each([
    ['a guard’s', new GuardRejection('NO_MEMBERS'), { class: 'guard', code: 'NO_MEMBERS' }],
    ['a constraint’s', own, { class: 'constraint', code: '23514' }],
    ['a data error', withCode('22001'), { class: 'data', code: '22001' }],
    ['a bug', new TypeError('x'), { class: 'bug', code: 'TypeError' }],
    ['a text that was thrown', 'no', { class: 'bug', code: 'string' }],
  ])('(%s) is recorded at once, even where the cycle must end', async (_, error, failure) => {
    const seen = await retrying({ failures: [error], mayGoOnTimes: 0 })
    expect(seen).toEqual({
      outcome: { kind: 'retried', failure, attempts: 1 },
      tries: [0],
      ...nothingElse,
      recorded: [{ failure, error }],
    })
  })

  it('that can’t be recorded is thrown on', async () => {
    const recordThrows = new Error('record')
    expect((await retrying({ failures: [own], recordThrows })).outcome).toEqual({
      kind: 'rejected',
      error: recordThrows,
    })
  })
})

describe('contention', () => {
  it.each([1, 2, 3])('met %d times is got over', async (n) => {
    const seen = await retrying({ failures: times(n, deadlock) })
    expect(seen).toMatchObject({ outcome: provisioned, recorded: [], probed: 0 })
    expect(seen.tries).toHaveLength(n + 1)
  })

  it('met four times is recorded as what it was the last time', async () => {
    const last = withCode('40001')
    const seen = await retrying({ failures: [...times(3, deadlock), last, deadlock] })
    const failure = { class: 'contention', code: '40001' }
    expect(seen).toMatchObject({ outcome: { kind: 'retried', failure }, probed: 0 })
    expect(seen.recorded).toEqual([{ failure, error: last }])
    expect(seen.tries).toHaveLength(4)
  })

  it('is waited out a little longer each time, by chance: at most 100, 200 and 400 ms', async () => {
    const failures = times(3, deadlock)
    expect((await retrying({ failures, random: 0 })).tries).toEqual([0, 0, 0, 0])
    expect((await retrying({ failures, random: 0.5 })).tries).toEqual([0, 50, 150, 350])
    expect((await retrying({ failures, random: 1 })).tries).toEqual([0, 100, 300, 700])
  })

  it('ends with the cycle: the row is left as it was', async () => {
    const seen = await retrying({ failures: times(9, deadlock), mayGoOnTimes: 1 })
    expect(seen).toMatchObject({
      outcome: { kind: 'untouched', infrastructure: false, error: deadlock },
      recorded: [],
      asked: 2,
    })
    expect(seen.tries).toHaveLength(2)
  })

  it('that can’t be recorded is thrown on', async () => {
    const recordThrows = new Error('record')
    const seen = await retrying({ failures: times(9, deadlock), recordThrows })
    expect(seen.outcome).toEqual({ kind: 'rejected', error: recordThrows })
  })
})

describe('a lost session', () => {
  it('leaves the row untouched where the server is away', async () => {
    const seen = await retrying({ failures: [sessionEnded], probes: [false] })
    expect(seen).toEqual({
      outcome: { kind: 'untouched', infrastructure: true, error: sessionEnded },
      tries: [0],
      ...nothingElse,
      probed: 1,
    })
  })

  it('with the server answering is tried once more, at once', async () => {
    const seen = await retrying({ failures: [sessionEnded], random: 1 })
    expect(seen).toMatchObject({ outcome: provisioned, tries: [0, 0], recorded: [], probed: 1 })
  })

  it('twice, with the server answering, is the row’s work: recorded as contention', async () => {
    const seen = await retrying({ failures: times(9, sessionEnded) })
    const failure = { class: 'contention', code: '57P01' }
    expect(seen).toMatchObject({ outcome: { kind: 'retried', failure }, probed: 2 })
    expect(seen.recorded).toEqual([{ failure, error: sessionEnded }])
    expect(seen.tries).toHaveLength(2)
  })

  it('twice, with the server away by then, says nothing about the row', async () => {
    const seen = await retrying({ failures: times(9, sessionEnded), probes: [true, false] })
    expect(seen).toMatchObject({
      outcome: { kind: 'untouched', infrastructure: true, error: sessionEnded },
      recorded: [],
      probed: 2,
    })
  })

  it('ends with the cycle: the row is left as it was', async () => {
    const seen = await retrying({ failures: times(9, sessionEnded), mayGoOnTimes: 0 })
    expect(seen).toMatchObject({
      outcome: { kind: 'untouched', infrastructure: false, error: sessionEnded },
      tries: [0],
      recorded: [],
    })
  })
})

describe('one failure after another', () => {
  it('of different kinds: each kind is counted for itself', async () => {
    const failures = [deadlock, sessionEnded, deadlock, deadlock]
    const seen = await retrying({ failures })
    expect(seen).toMatchObject({ outcome: provisioned, recorded: [], probed: 1 })
    expect(seen.tries).toHaveLength(5)
  })

  it('is recorded at once where the last one is the row’s own', async () => {
    const seen = await retrying({ failures: [deadlock, sessionEnded, own] })
    expect(seen.recorded).toEqual([{ failure: { class: 'constraint', code: '23514' }, error: own }])
  })
})

describe('a row that is found locked', () => {
  const skipped: AttemptOutcome = { kind: 'skipped' }
  const recorded: AttemptOutcome = {
    kind: 'retried',
    failure: { class: 'contention', code: '57P01' },
    attempts: 1,
  }

  /** Each step throws its error or gives its outcome, in this order. */
  async function walk(
    work: readonly (AttemptOutcome | Error)[],
    record: readonly AttemptOutcome[] = [],
  ) {
    const steps = [...work]
    const records = [...record]
    const ended = retryInPlace(
      { random: () => 0, mayGoOn: () => true, probe: () => Promise.resolve(true) },
      () => {
        const step = steps.shift()
        return step instanceof Error ? Promise.reject(step) : Promise.resolve(step ?? provisioned)
      },
      () => Promise.resolve(records.shift() ?? recorded),
    )
    await vi.runAllTimersAsync()
    return { outcome: await ended, left: steps.length + records.length }
  }

  it('is left to whoever holds it', async () => {
    expect(await walk([skipped, provisioned])).toEqual({ outcome: skipped, left: 1 })
  })

  it('is tried again just after its session ended, for that may hold it a moment longer', async () => {
    expect(await walk([sessionEnded, skipped, skipped, provisioned])).toEqual({
      outcome: provisioned,
      left: 0,
    })
    expect(await walk([sessionEnded, sessionEnded], [skipped, recorded])).toEqual({
      outcome: recorded,
      left: 0,
    })
  })

  it('is left in the end where it stays locked', async () => {
    const locked = times(4, skipped)
    expect(await walk([sessionEnded, ...locked, provisioned])).toEqual({
      outcome: skipped,
      left: 1,
    })
  })
})
