/** What is counted and told of each outcome: to the log, to the metrics, and to the relay. */

import { beforeEach, describe, expect, it } from 'vitest'
import type { AttemptOutcome } from '../../../src/provisioning/retry-in-place.js'
import { createTally, type Tally } from '../../../src/provisioning/tally.js'
import { logToLines, type LogLine } from './log-lines.js'

const dealId = '0b9f6c1e-6f0e-4c39-9d43-a1b2c3d4e5f6'
const chatId = '5d9f6c1e-6f0e-4c39-9d43-a1b2c3d4e5f6'
const failure = { class: 'data', code: '22001' } as const
const levels = { info: 30, warn: 40, error: 50 }

let lines: LogLine[]
let told: string[]
let tally: Tally

beforeEach(() => {
  told = []
  const { log, lines: written } = logToLines('info')
  lines = written
  const metrics = {
    retried: () => told.push('retried'),
    succeeded: () => told.push('succeeded'),
    poison: () => told.push('poison'),
    cycleCompleted: () => told.push('cycle'),
  }
  tally = createTally(log, metrics, () => told.push('event written'))
})

const none = { claimed: 0, provisioned: 0, retried: 0, failed: 0, skipped: 0 }
const outcomes = {
  provisioned: { kind: 'provisioned', chatId, attempts: 2 },
  retried: { kind: 'retried', failure, attempts: 3 },
  poison: { kind: 'poison', failure, attempts: 10 },
  skipped: { kind: 'skipped' },
  untouched: { kind: 'untouched', infrastructure: true, error: new Error('away') },
} as const satisfies Record<string, AttemptOutcome>

describe('an outcome', () => {
  it.each<[keyof typeof outcomes, object, string[], object[]]>([
    [
      'provisioned',
      { claimed: 1, provisioned: 1 },
      ['succeeded', 'event written'],
      [{ level: levels.info, event: 'chat provisioned', dealId, chatId, attempts: 2 }],
    ],
    [
      'retried',
      { claimed: 1, retried: 1 },
      ['retried'],
      [
        {
          level: levels.warn,
          event: 'provision retry',
          dealId,
          attempts: 3,
          errorCode: '22001',
          lastError: 'data:22001',
        },
      ],
    ],
    [
      'poison',
      { claimed: 1, failed: 1 },
      ['poison', 'event written'],
      [
        {
          level: levels.error,
          event: 'provision failed',
          dealId,
          poison: true,
          attempts: 10,
          errorCode: '22001',
          lastError: 'data:22001',
        },
      ],
    ],
    ['skipped', { skipped: 1 }, [], []],
    [
      'untouched',
      {},
      [],
      [
        {
          level: levels.warn,
          event: 'provision untouched',
          dealId,
          err: { type: 'Error', message: 'away' },
        },
      ],
    ],
  ])('%s is counted and told as such', (kind, counts, toOthers, toLog) => {
    tally.add({ dealId }, outcomes[kind])
    expect(tally.counts()).toEqual({ ...none, ...counts })
    expect(told).toEqual(toOthers)
    expect(lines).toMatchObject(toLog)
    expect(lines).toHaveLength(toLog.length)
  })

  it('adds to those before it', () => {
    expect(tally.counts()).toEqual(none)
    for (const outcome of Object.values(outcomes)) tally.add({ dealId }, outcome)
    tally.add({ dealId }, outcomes.provisioned)
    expect(tally.counts()).toEqual({
      claimed: 4,
      provisioned: 2,
      retried: 1,
      failed: 1,
      skipped: 1,
    })
  })
})
