/** Lists: columns of fixed widths, so that nothing moves when the rows change under a reader's eyes. */

import { Empty } from './empty.js'

/** The stylesheet has a width for each kind; `text` takes what is left, and `prose` more than one line of it. */
type ColumnKind =
  'id' | 'time' | 'number' | 'state' | 'word' | 'short' | 'name' | 'value' | 'text' | 'prose'

export interface Column<T> {
  readonly head: string
  readonly kind: ColumnKind
  /** Left out on a phone. */
  readonly isMinor?: boolean
  readonly cell: (item: T) => JSX.Element
}

export interface TableProps<T> {
  /** What the list is of, for those who can't see it beside its heading. */
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly items: readonly T[]
  /** What it means that there is nothing. */
  readonly empty: string
  /** Rows can be chosen: the name of the form's field, and each row's value and name. */
  readonly choice?: {
    readonly field: string
    readonly valueOf: (item: T) => string
    readonly nameOf: (item: T) => string
    readonly chosen: readonly string[]
  }
}

export function Table<T>(props: TableProps<T>): JSX.Element {
  const { caption, columns, items, empty, choice } = props
  if (items.length === 0) return <Empty text={empty} />
  return (
    <div class="table" role="region" aria-label={caption} tabindex="0">
      <table>
        <caption class="unseen" safe>
          {caption}
        </caption>
        <colgroup>
          {choice !== undefined && <col class="of-choice" />}
          {columns.map(({ kind, isMinor }) => (
            <col class={[`of-${kind}`, isMinor && 'minor']} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {choice !== undefined && (
              <th scope="col" class="of-choice">
                <input type="checkbox" data-choose-all aria-label="Choose all on this page" />
              </th>
            )}
            {columns.map(({ head, kind, isMinor }) => (
              <th scope="col" class={[`of-${kind}`, isMinor && 'minor']} safe>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr>
              {choice !== undefined && (
                <td class="of-choice">
                  <input
                    type="checkbox"
                    name={choice.field}
                    value={choice.valueOf(item)}
                    checked={choice.chosen.includes(choice.valueOf(item))}
                    aria-label={`Choose ${choice.nameOf(item)}`}
                  />
                </td>
              )}
              {columns.map(({ kind, isMinor, cell }) => (
                <td class={[`of-${kind}`, isMinor && 'minor']}>{cell(item)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
