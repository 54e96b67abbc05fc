/** A state in one or two words, coloured; the words alone say it, too. */

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export function Badge({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return (
    <span class={['badge', tone]} safe>
      {text}
    </span>
  )
}
