/** One figure of an overview: what it is, how much, and what that means. */

export interface FigureProps {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly tone?: 'good' | 'warn' | 'bad'
  readonly href?: string
}

export function Figure({ name, value, note, tone, href }: FigureProps): JSX.Element {
  return (
    <div class={['figure', tone]}>
      <dt safe>{name}</dt>
      <dd>
        {href === undefined ? (
          <span class="value" safe>
            {value}
          </span>
        ) : (
          <a class="value" href={href} safe>
            {value}
          </a>
        )}
        <span class="note" safe>
          {note}
        </span>
      </dd>
    </div>
  )
}
