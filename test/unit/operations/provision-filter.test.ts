/** Filters as operators give them: read, told again in one text, refused with what is allowed. */

import { describe, expect, it } from 'vitest'
import {
  describeFilter,
  isEmptyFilter,
  readProvisionFilter,
  type ProvisionFilterInput,
} from '../../../src/operations/provision-filter.js'
import { readOrder, readUuids } from '../../../src/operations/read-input.js'

const tenant = '0191F3C2-7D1E-7C55-9A3E-2F4B8D6A1C00'

describe('a filter', () => {
  it.each<[ProvisionFilterInput, string]>([
    [{}, 'all'],
    [{ poison: true }, 'poison'],
    [{ status: 'failed' }, 'status=Failed'],
    [{ error: 'guard:TITLE_BLANK' }, 'error=guard:TITLE_BLANK'],
    [{ error: 'guard: x' }, 'error="guard: x"'],
    [{ tenant }, `tenant=${tenant.toLowerCase()}`],
    [{ olderThan: '90m' }, 'older-than=90m'],
    [{ olderThan: '120m' }, 'older-than=2h'],
    [{ olderThan: '1500ms' }, 'older-than=1500ms'],
    [{ poison: true, status: 'Failed', olderThan: '3d' }, 'poison status=Failed older-than=3d'],
  ])('%j reads as %s', (input, text) => {
    const filter = readProvisionFilter(input)
    expect(describeFilter(filter)).toBe(text)
    expect(isEmptyFilter(filter)).toBe(text === 'all')
  })

  it.each<[ProvisionFilterInput, RegExp]>([
    [{ status: 'done' }, /one of Provisioning, Ready, Failed/],
    [{ error: '' }, /how it begins/],
    [{ error: 'a\u0000' }, /how it begins/],
    [{ tenant: 'acme' }, /Not a tenant id: "acme"/],
    [{ olderThan: '5' }, /such as 90s/],
    [{ olderThan: '0s' }, /such as 90s/],
    [{ olderThan: '999999999d' }, /such as 90s/],
    [{ poison: true, status: 'Ready' }, /leaves none/],
  ])('%j is refused', (input, message) => {
    expect(() => readProvisionFilter(input)).toThrow(message)
  })
})

describe('an order', () => {
  it('is one line each of who and why', () => {
    const order = readOrder({ by: ' anna ', reason: 'title\n mended' })
    expect(order).toEqual({ by: 'anna', reason: 'title mended' })
  })

  it.each([
    [{ by: 'anna' }, /"reason" must say why/],
    [{ reason: 'x' }, /"by" must say who/],
    [{ by: ' ', reason: 'x' }, /"by"/],
    [{ by: 'anna', reason: 'a\u001b[2Jb' }, /"reason"/],
    [{ by: 'a'.repeat(101), reason: 'x' }, /1 to 100/],
  ])('%j is refused', (input, message) => {
    expect(() => readOrder(input)).toThrow(message)
  })
})

describe('ids', () => {
  it('are taken in any case, each once', () => {
    expect(readUuids('a deal id', [tenant, tenant.toLowerCase()])).toEqual([tenant.toLowerCase()])
  })

  it('that are none are all named', () => {
    expect(() => readUuids('a deal id', ['x', tenant, 'y'])).toThrow(/Not a deal id: "x", "y"/)
  })
})
