/** One thing that is known: its name and its value, in a `dl` of class `facts`. */

import type { Children } from '@kitajs/html'

/** @param props.children elements, which see to their own escaping */
export function Fact(props: { readonly name: string; readonly children: Children }): JSX.Element {
  const { name, children } = props
  return (
    <>
      <dt safe>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
