/** Through a list, page by page; above it, so that it stays where it is while rows come and go. */

import type { Page } from '../../../operations/page.js'
import { queryOf, type Values } from '../values.js'
import { ofThem } from './text.js'

/** A screen or two. */
export const rowsPerPage = 50

export interface PagerProps {
  readonly page: Page<unknown>
  readonly path: string
  /** What the list is narrowed by; goes on to the next page. */
  readonly values: Values
  /** What the rows are, as `deal`. */
  readonly one: string
}

export function Pager({ page, path, values, one }: PagerProps): JSX.Element {
  const isFirst = values['cursor'] === undefined
  const narrowed = { ...values, cursor: undefined }
  const { nextCursor, items } = page
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span class="pager-count" safe>
        {`${ofThem(items.length, one)}${nextCursor === null ? '' : ' of more'}`}
      </span>
      {!isFirst && <a href={`${path}${queryOf(narrowed)}`}>Newest</a>}
      {nextCursor !== null && (
        <a href={`${path}${queryOf({ ...narrowed, cursor: nextCursor })}`} rel="next">
          Older
        </a>
      )}
    </nav>
  )
}
