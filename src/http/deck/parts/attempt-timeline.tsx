/** What a deal's attempts failed of, oldest first: each a line, with what it means in words. */

import { errorMeaning } from '../../../operations/error-meaning.js'
import type { FailedAttempt } from '../../../operations/show-provision.js'
import { Empty } from './empty.js'
import { spanText, Time } from './text.js'

export function AttemptTimeline(props: {
  readonly items: readonly FailedAttempt[]
  readonly maxAttempts: number
  /** That none is kept where there were some. */
  readonly attempts: number
}): JSX.Element {
  const { items, maxAttempts, attempts } = props
  if (items.length === 0) {
    const text = attempts === 0 ? 'None has failed.' : 'None that failed is kept.'
    return <Empty text={text} />
  }
  return (
    <ol class="timeline">
      {items.map((item) => (
        <li class={[item.attempt >= maxAttempts && 'last']}>
          <Time at={item.failedAt} />
          <strong safe>{item.attempt === 0 ? 'Intake' : `Attempt ${item.attempt}`}</strong>
          <span class="timeline-error">
            <code title={item.error} safe>
              {item.error}
            </code>
            <span class="hint" safe>
              {errorMeaning(item.error) ?? ''}
            </span>
          </span>
          <span class="hint">
            <Took ms={item.durationMs} />
            {item.attempt < maxAttempts ? (
              <span>
                , the next from <Time at={item.nextAttemptAt} />
              </span>
            ) : (
              <span>, then out of attempts</span>
            )}
          </span>
        </li>
      ))}
    </ol>
  )
}

function Took({ ms }: { readonly ms: number | null }): JSX.Element {
  return <span safe>{ms === null ? 'nobody lived to tell' : `took ${spanText(ms / 1_000)}`}</span>
}
