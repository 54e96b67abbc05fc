/** Tables that fit a terminal: the widest columns are cut, ids never, no line is too long. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ageText, durationText, untilText } from '../../../src/commands/age.js'
import { tableLines } from '../../../src/commands/output.js'

describe('a table', () => {
  it('is as wide as it needs where there is room', () => {
    const lines = tableLines(
      ['a', 'long'],
      [
        ['x', 'yy'],
        [null, 'z'],
      ],
      { width: 80 },
    )
    expect(lines).toEqual(['a  long', 'x  yy', '-  z'])
  })

  it('cuts the widest column first, and never an id', () => {
    const id = '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00'
    const lines = tableLines(['deal', 'error', 'n'], [[id, 'e'.repeat(100), 1]], {
      width: 60,
      whole: ['deal'],
    })
    expect(lines[1]).toBe(`${id}  ${'e'.repeat(18)}…  1`)
    expect(lines.map(({ length }) => length <= 60)).toEqual([true, true])
  })

  it('counts the columns that characters take', () => {
    const lines = tableLines(
      ['t', 'n'],
      [
        ['漢字漢字漢字', 1],
        ['й'.repeat(12), 2],
      ],
      { width: 12 },
    )
    expect(lines.slice(1)).toEqual(['漢字漢字…  1', 'йййййййй…  2'])
  })

  it('shows control characters instead of obeying them', () => {
    expect(tableLines(['a'], [['x\u001b[2J\ny\u009b']])[1]).toBe('x\\x1b[2J\\x0ay\\x9b')
  })

  it('never has a line wider than the terminal while columns can be cut', () => {
    const cell = fc.string({ maxLength: 60 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell)),
        fc.integer({ min: 20, max: 200 }),
        (rows, width) => {
          const lines = tableLines(['one', 'two', 'three'], rows, { width })
          expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width)
        },
      ),
    )
  })
})

describe('times', () => {
  const now = '2026-01-02T03:04:05.000000Z'

  it.each([
    ['2026-01-02T03:04:04.000Z', '1s'],
    ['2026-01-02T02:00:00.000Z', '1h'],
    ['2025-12-30T03:04:05.000Z', '3d'],
    ['2027-01-01T00:00:00.000Z', '0s'],
    ['infinity', 'infinity'],
  ])('%s is %s ago', (time, text) => {
    expect(ageText(time, now)).toBe(text)
  })

  it.each([
    ['2026-01-02T03:04:04.000Z', 'now'],
    ['2026-01-02T03:19:06.000Z', '15m'],
    ['infinity', 'infinity'],
  ])('%s comes in %s', (time, text) => {
    expect(untilText(time, now)).toBe(text)
  })

  it('below a second are told in milliseconds', () => {
    expect([28, 999, 1_000].map(durationText)).toEqual(['28ms', '999ms', '1s'])
  })
})
