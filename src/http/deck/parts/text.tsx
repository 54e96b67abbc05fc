/** Small texts that are shown alike everywhere: times, spans, ids, numbers. */

/** RFC 3339 in UTC, as all times here; `infinity` and null as they are. To the second. */
export function Time({ at }: { readonly at: string | null }): JSX.Element {
  if (at === null) return <Nothing />
  if (!/^\d{4}-/.test(at)) return <span safe>{at}</span>
  return (
    <time datetime={at} title={`${at} (UTC)`}>
      <span class="year" safe>
        {at.slice(0, 5)}
      </span>
      <span safe>{at.slice(5, 19).replace('T', ' ')}</span>
    </time>
  )
}

export function Nothing(): JSX.Element {
  return <span class="nothing">–</span>
}

/** An id in full, on one line; the cell cuts what has no room, the title has all of it. */
export function Id({ id, href }: { readonly id: string; readonly href?: string }): JSX.Element {
  return href === undefined ? (
    <span class="id" title={id} safe>
      {id}
    </span>
  ) : (
    <a class="id" href={href} title={id} safe>
      {id}
    </a>
  )
}

/** Text of any length on one line. */
export function Line({ text }: { readonly text: string | null }): JSX.Element {
  if (text === null || text === '') return <Nothing />
  return (
    <span title={text} safe>
      {text}
    </span>
  )
}

/** Characters: more than any error of ours, and two lines or three. */
const longestShown = 160

/** Text of any length among facts: of a long one its beginning, until somebody unfolds it. */
export function Text({ text }: { readonly text: string | null }): JSX.Element {
  const characters = Array.from(text ?? '')
  if (text === null || characters.length <= longestShown) return <Line text={text} />
  return (
    <details>
      <summary>
        <span safe>{`${characters.slice(0, longestShown).join('')}… `}</span>
        <span class="hint" safe>{`${countText(characters.length)} characters`}</span>
      </summary>
      <span safe>{text}</span>
    </details>
  )
}

const spans = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** `2d 3h`, `4m 10s`, `0.3s`, `20ms`: the two largest units that say something. */
export function spanText(seconds: number): string {
  if (seconds < 0.1) return `${Math.round(seconds * 1_000)}ms`
  if (seconds < 10) return `${Math.round(seconds * 10) / 10}s`
  let rest = Math.round(seconds)
  const parts: string[] = []
  for (const [unit, size] of spans) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

const counts = new Intl.NumberFormat('en-US')

/** With separators: `12,345`. */
export function countText(count: number): string {
  return counts.format(count)
}

/** `1 deal`, `2 deals`. */
export function ofThem(count: number, one: string, several = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : several}`
}

/** A number in a list: what is 0 steps back. */
export function Count({ count }: { readonly count: number }): JSX.Element {
  return (
    <span class={[count === 0 && 'nothing']} safe>
      {countText(count)}
    </span>
  )
}
