/**
 * Keyset pages: a list goes on after the last row that was seen, so that rows which come or go
 * meanwhile neither repeat nor hide others, and a late page costs as little as the first.
 */

import { AppError } from '../errors.js'

export interface PageRequest {
  /** Rows at the most, ≥ 1. */
  readonly limit: number
  /** `nextCursor` of the page before; undefined for the first one. */
  readonly cursor?: string | undefined
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Where the next page begins, or null where this one is the last. */
  readonly nextCursor: string | null
}

/** What a place in a list is made of, and the texts that can be such a part. */
const partPatterns = {
  /** As exactTime writes it. */
  time: /^(-?infinity|-?\d{1,17})$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  number: /^\d{1,18}$/,
}

type PartKind = keyof typeof partPatterns

export interface ListOrder {
  /** Of the list, so that one list's cursor is not taken for another's. */
  readonly name: string
  readonly parts: readonly PartKind[]
}

/**
 * The place that a cursor names, one text for each part of the order; undefined for the first page.
 *
 * @throws AppError INPUT_INVALID where it is not a cursor of this list
 */
export function readCursor(
  order: ListOrder,
  cursor: string | undefined,
): readonly string[] | undefined {
  if (cursor === undefined) return undefined
  const [name, ...place] = decode(cursor)
  const fits =
    name === order.name &&
    place.length === order.parts.length &&
    order.parts.every((kind, index) => partPatterns[kind].test(place[index] ?? ''))
  if (fits) return place
  throw new AppError(
    'INPUT_INVALID',
    `This cursor is not one that the list of ${order.name} gave. Begin without a cursor.`,
  )
}

/**
 * One page of `rows`, which the statement read in the list's order, one more than the limit where
 * there is more.
 */
export function toPage<Row, Item>(
  order: ListOrder,
  rows: readonly Row[],
  limit: number,
  split: (row: Row) => { readonly item: Item; readonly place: readonly string[] },
): Page<Item> {
  const shown = rows.slice(0, limit).map(split)
  const last = shown.at(-1)
  const isMore = rows.length > limit && last !== undefined
  return {
    items: shown.map(({ item }) => item),
    nextCursor: isMore ? encode([order.name, ...last.place]) : null,
  }
}

function encode(parts: readonly string[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url')
}

/** Whatever was given: nonsense becomes parts that fit no list. */
function decode(cursor: string): readonly string[] {
  return Buffer.from(cursor, 'base64url').toString().split(' ')
}
