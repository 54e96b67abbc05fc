/** Who orders a job and why, as the audit keeps it. */

import { describe, expect, it } from 'vitest'
import type { JobContext } from '../../../src/chokaq/index.js'
import { orderOf } from '../../../src/operations/jobs/job-payloads.js'
import { longestReason } from '../../../src/operations/read-input.js'

const job = { id: '01J9Z3K4M5N6P7Q8R9S0T1V2W3' } as JobContext

describe('the order of a job', () => {
  it('names the job, whose words no other command has', () => {
    expect(orderOf({ by: 'ann', reason: ' after the  outage ' }, job)).toEqual({
      by: 'ann',
      reason: `after the outage (job ${job.id})`,
      isOfOneCommand: true,
    })
  })

  it.each([longestReason - 31, longestReason])('keeps the job of a reason of %i letters', (n) => {
    const { reason } = orderOf({ by: 'ann', reason: 'x'.repeat(n) }, job)
    expect(reason).toHaveLength(longestReason)
    expect(reason).toMatch(/x \(job 01J9Z3K4M5N6P7Q8R9S0T1V2W3\)$/)
  })
})
