/** Cursors: opaque, their own list's only, and never an error beyond one line. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import { readCursor, toPage, type ListOrder } from '../../../src/operations/page.js'

const order: ListOrder = { name: 'provisions', parts: ['time', 'uuid'] }
const place = ['1795985751455354', '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00']
const split = (item: number) => ({ item, place })

/** Any cursor of the list at this place. */
function cursorOf(list: ListOrder, at: readonly string[]): string {
  const page = toPage(list, [1, 2], 1, (item) => ({ item, place: at }))
  if (page.nextCursor === null) throw new Error('there is more, so there is a cursor')
  return page.nextCursor
}

describe('a page', () => {
  it('has a cursor only where there is more', () => {
    expect(toPage(order, [1, 2], 2, split)).toEqual({ items: [1, 2], nextCursor: null })
    expect(toPage(order, [], 2, split)).toEqual({ items: [], nextCursor: null })
    const page = toPage(order, [1, 2, 3], 2, split)
    expect(page.items).toEqual([1, 2])
    expect(readCursor(order, page.nextCursor ?? undefined)).toEqual(place)
  })

  it('begins the list where no cursor is given', () => {
    expect(readCursor(order, undefined)).toBeUndefined()
  })
})

function refusal(cursor: string): unknown {
  try {
    return readCursor(order, cursor)
  } catch (error) {
    return error
  }
}

describe('a cursor that is refused', () => {
  it.each([
    ['of another list', cursorOf({ ...order, name: 'runs' }, place)],
    ['with a part too many', cursorOf(order, [...place, 'x'])],
    ['with a part too few', cursorOf(order, place.slice(0, 1))],
    ['with a time that is none', cursorOf(order, ['yesterday', place[1] ?? ''])],
    ['with a number beyond the database', cursorOf(order, ['9'.repeat(40), place[1] ?? ''])],
    ['empty', ''],
  ])('%s', (_, cursor) => {
    const error = refusal(cursor)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'INPUT_INVALID', exitCode: 2 })
    expect(String(error)).not.toContain('\n')
  })

  it('whatever text it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(refusal(text)).toMatchObject({ code: 'INPUT_INVALID' })
      }),
    )
  })
})
