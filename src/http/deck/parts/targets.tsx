/** What an action would be done to, and why not where it wouldn't. */

import { Id } from './text.js'

export function Targets(props: {
  /** Of the list; a target's page is below it. */
  readonly path: string
  readonly ids: readonly string[]
  readonly whyNot: ReadonlyMap<string, string>
}): JSX.Element {
  const { path, ids, whyNot } = props
  return (
    <ul class="targets">
      {ids.map((id) => (
        <li>
          <Id id={id} href={`${path}/${id}`} />
          {whyNot.has(id) && (
            <span class="why" safe>
              {whyNot.get(id)}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
