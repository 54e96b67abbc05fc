/** A table whose rows can be chosen, and what can be done with the chosen: each leads to a page that asks. */

import type { Children } from '@kitajs/html'
import { queryOf, type Values } from '../values.js'

export interface SelectionProps {
  /** Of the list; the actions' pages are below it. */
  readonly path: string
  /** What the list is narrowed by, to come back to it. */
  readonly values: Values
  /** The first one is what the Enter key does. */
  readonly actions: readonly { readonly name: string; readonly text: string }[]
  /** The table, which sees to its own escaping. */
  readonly children: Children
}

export function Selection({ path, values, actions, children }: SelectionProps): JSX.Element {
  const [first] = actions
  return (
    <form method="get" action={`${path}/${first?.name ?? ''}`} data-choice>
      <input type="hidden" name="back" value={`${path}${queryOf(values)}`} />
      <div class="chosen">
        <span>With the chosen:</span>
        {actions.map(({ name, text }) => (
          <button formaction={`${path}/${name}`} safe>
            {text}
          </button>
        ))}
        <output data-chosen-count />
      </div>
      {children}
    </form>
  )
}
