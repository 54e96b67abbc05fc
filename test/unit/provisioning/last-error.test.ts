/** What is written of a failure: its class and code, storable and readable whatever was thrown. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GuardRejection } from '../../../src/provisioning/guards.js'
import {
  classifyRowFailure,
  lastErrorText,
  workerDied,
  type RowFailure,
} from '../../../src/provisioning/last-error.js'

/** All that may have a name of its own goes into it. */
const named = (name: string): Error => Object.assign(new Error('x'), { name })
const textOf = (code: string): string => lastErrorText({ class: 'bug', code })

describe('a row’s failure', () => {
  it.each<[unknown, string, string]>([
    [new GuardRejection('TITLE_BLANK'), 'guard', 'TITLE_BLANK'],
    [Object.assign(new Error('x'), { code: '23505' }), 'constraint', '23505'],
    [Object.assign(new Error('x'), { code: '22001' }), 'data', '22001'],
    [Object.assign(new Error('x'), { code: '40P01' }), 'contention', '40P01'],
    [Object.assign(new Error('x'), { code: '57P01' }), 'infrastructure', '57P01'],
    [new TypeError('x'), 'bug', 'TypeError'],
    [{ code: 'TITLE_BLANK' }, 'bug', 'object'],
  ])('of %s has its class and code', (error, of, code) => {
    expect(classifyRowFailure(error)).toEqual({ class: of, code })
  })

  it('has a code that the log can show, too', () => {
    const { code } = classifyRowFailure(named(`E\u0000\u001b[31m${'x'.repeat(100_000)}`))
    expect(code).toHaveLength(500)
    expect(code).toMatch(/^E\[31mx+$/)
  })

  it('of a worker that died has a code of its own', () => {
    expect(lastErrorText(workerDied)).toBe('crash:WORKER_DIED')
  })
})

describe('P1 last_error', () => {
  it('is class and code', () => {
    expect(lastErrorText({ class: 'constraint', code: '23505' })).toBe('constraint:23505')
  })

  it.each([
    ['U+0000', 'a\u0000b\u0000', 'bug:ab'],
    ['line ends and other controls', 'a\r\n\u001b[2J\u007f\u0085b', 'bug:a[2Jb'],
    ['lone surrogates', 'a\ud800b\udc00', 'bug:a\ufffdb\ufffd'],
    ['a pair', 'a🏠', 'bug:a🏠'],
    ['surrogates parted by U+0000', '\ud83c\u0000\udfe0', 'bug:🏠'],
    ['other letters', 'Ошибка №1', 'bug:Ошибка №1'],
  ])('holds %s only as the column can', (_, code, text) => {
    expect(textOf(code)).toBe(text)
  })

  it('is cut at 512 characters, and not one earlier', () => {
    expect(textOf('x'.repeat(508))).toBe(`bug:${'x'.repeat(508)}`)
    expect(textOf('x'.repeat(509))).toBe(`bug:${'x'.repeat(508)}`)
    expect(textOf('x'.repeat(100_000))).toHaveLength(512)
    // What is taken out doesn't count.
    expect(textOf(`${'\u0000'.repeat(1_000)}tail`)).toBe('bug:tail')
  })

  it('is well-formed where the cut falls inside a pair', () => {
    expect(textOf(`${'x'.repeat(507)}🏠`)).toBe(`bug:${'x'.repeat(507)}\ufffd`)
    expect(textOf(`${'x'.repeat(506)}🏠`)).toBe(`bug:${'x'.repeat(506)}🏠`)
  })

  it('can be stored whatever was thrown', () => {
    const unit = fc.oneof(
      fc.constantFrom('\u0000', '\u001b', '\n', '\ud800', '\udfff', '🏠', 'x', 'Ж'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    )
    const anyText = fc.array(unit, { maxLength: 1_500 }).map((units) => units.join(''))
    fc.assert(
      fc.property(anyText, (name) => {
        const failure = classifyRowFailure(named(name)) as RowFailure
        const text = lastErrorText(failure)
        expect(text.length).toBeLessThanOrEqual(512)
        expect(text.isWellFormed()).toBe(true)
        expect(text).toMatch(/^bug:\P{Control}+$/u)
        // As pg sends it and PostgreSQL gives it back.
        expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text)
        expect(text).toBe(`bug:${failure.code}`)
      }),
    )
  })
})
