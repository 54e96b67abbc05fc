/** The findings on a terminal: nothing beyond 80 columns, nothing lost. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { reportLines } from '../../../src/doctor/report.js'
import type { Finding } from '../../../src/doctor/finding.js'

const finding = fc.record<Finding>({
  check: fc.constantFrom('options', 'reference tables', 'rows'),
  status: fc.constantFrom('ok', 'warning', 'failed', 'skipped'),
  found: fc.string({ maxLength: 300 }),
  mend: fc.option(fc.string({ maxLength: 300 })),
})

it('fits 80 columns and keeps every character that is not white space, whatever was found', () => {
  fc.assert(
    fc.property(fc.array(finding, { minLength: 1, maxLength: 12 }), (findings) => {
      const lines = reportLines(findings)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
      const all = lines.join('').replace(/\s/g, '')
      for (const { found, mend } of findings) {
        expect(all).toContain(found.replace(/\s/g, ''))
        if (mend !== null) expect(all).toContain(`->${mend}`.replace(/\s/g, ''))
      }
    }),
  )
})

it('puts what was found beside the check, what to do under it, and counts at the end', () => {
  const lines = reportLines([
    { check: 'database', status: 'ok', found: 'PostgreSQL 18.4', mend: null },
    { check: 'rows', status: 'failed', found: '2 are lost', mend: 'update them' },
    { check: 'clocks', status: 'warning', found: 'apart', mend: 'use NTP' },
    { check: 'broker', status: 'skipped', found: 'not talked to', mend: null },
  ])
  expect(lines).toEqual([
    'database  ok       PostgreSQL 18.4',
    'rows      FAILED   2 are lost',
    '                   -> update them',
    'clocks    warning  apart',
    '                   -> use NTP',
    'broker    skipped  not talked to',
    '',
    '1 in order, 1 to look at, 1 to mend, 1 not looked at',
  ])
})
