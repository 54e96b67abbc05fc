/** One thing that is known: its name and its value, in a `dl` of class `facts`. */

import type { Children } from '@kitajs/html'
import { Text, Time } from './text.js'

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

/** A fact for each text, then one for each time, each by its name; what is null is said to be none. */
export function Facts(props: {
  readonly texts: readonly (readonly [name: string, text: string | null])[]
  readonly times: readonly (readonly [name: string, at: string | null])[]
}): JSX.Element {
  const { texts, times } = props
  return (
    <>
      {texts.map(([name, text]) => (
        <Fact name={name}>
          <Text text={text} />
        </Fact>
      ))}
      {times.map(([name, at]) => (
        <Fact name={name}>
          <Time at={at} />
        </Fact>
      ))}
    </>
  )
}
