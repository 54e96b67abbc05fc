/** In place of a form that was carried out already, as when somebody goes back to it. */

import type { Notice } from '../notice.js'
import { NoticeBox } from './notice-box.js'

export function SentBefore(props: {
  readonly title: string
  /** What came of it. */
  readonly notice: Notice
  /** The same form, empty. */
  readonly anew: string
  readonly back: string
}): JSX.Element {
  const { title, notice, anew, back } = props
  return (
    <section class="action">
      <h1 safe>{title}</h1>
      <p class="lead">This form was sent already. What came of it:</p>
      <NoticeBox notice={notice} />
      <div class="buttons">
        <a href={back}>Back</a>
        <a href={anew}>Ask for it once more</a>
      </div>
    </section>
  )
}
