/** What is said of a provision's future, for each state that it can be in. */

import { describe, expect, it } from 'vitest'
import { nextStep, type NextStepRow } from '../../../src/operations/next-step.js'

const now = Date.parse('2026-01-02T03:04:05.000Z')
const limits = { maxAttempts: 10, stuckProvisioningAfterMs: 300_000, pollingIntervalMs: 60_000 }
const past = '2026-01-02T03:00:00.000Z'
const longPast = '2026-01-02T02:00:00.000Z'
const future = '2026-01-02T03:10:00.000Z'

describe('the next step', () => {
  it.each<[string, Partial<NextStepRow>, RegExp]>([
    ['Ready', { status: 'Ready' }, /^Nothing: its chat is made\.$/],
    [
      'poison',
      { attempts: 10, lastError: 'guard:NO_MEMBERS' },
      /Mend the cause, guard:NO_MEMBERS,/,
    ],
    ['poison without a cause', { attempts: 12, lastError: null }, /Mend the cause and re-enqueue/],
    ['due', { attempts: 3 }, /^Attempt 4 of 10 is due now: .* within 60 s\.$/],
    ['long due', { nextAttemptAt: '-infinity' }, /^Attempt 1 of 10 is due now/],
    ['backed off', { nextAttemptAt: future }, /^Attempt 1 of 10 is due at 2026-01-02 03:10:00 UTC/],
    ['put off', { nextAttemptAt: 'infinity' }, /put off for ever/],
    ['under way', { status: 'Provisioning', updatedAt: past }, /hangs at 2026-01-02 03:05:00 UTC/],
    ['stuck', { status: 'Provisioning', updatedAt: longPast }, /^Attempt 1 of 10 is due now/],
    [
      'stuck on the last',
      { status: 'Provisioning', updatedAt: longPast, attempts: 10 },
      /closes it as failed/,
    ],
    ['never changed', { status: 'Provisioning', updatedAt: 'infinity' }, /a time far off/],
  ])('of one that is %s', (_what, row, expected) => {
    const base: NextStepRow = {
      ...{ status: 'Failed', attempts: 0, lastError: 'data:22001' },
      ...{ nextAttemptAt: past, updatedAt: past },
    }
    expect(nextStep({ ...base, ...row }, limits, now)).toMatch(expected)
  })
})
