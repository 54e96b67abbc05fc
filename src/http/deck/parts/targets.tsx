/** What an action would be done to, and why not where it wouldn't. */

import { Id } from './text.js'

/** On three lines at the most; the title has all of it. */
export function Why({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class="why" title={text} safe>
      {text}
    </span>
  )
}

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
          {whyNot.has(id) && <Why text={whyNot.get(id) ?? ''} />}
        </li>
      ))}
    </ul>
  )
}
