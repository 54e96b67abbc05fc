/** A form that was sent from a session that had ended, or another: shown once more, to be sent again. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { formTokenField } from '../form-token.js'
import { HiddenValues } from '../parts/form.js'
import { sendPage } from '../send-page.js'
import { all, type Values } from '../values.js'

export interface ResumeView {
  readonly status?: number
  readonly formToken: string
  /** Where the form goes to. */
  readonly next: string
  readonly carried: Values
}

export async function sendResume(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, formToken, next, carried }: ResumeView,
): Promise<FastifyReply> {
  return sendPage(
    request,
    reply,
    { status, title: 'Send it again', section: undefined },
    <section class="login">
      <h1>Nothing was done yet</h1>
      <p>The form came from a session that is no longer this one. What you had typed:</p>
      <dl class="facts">
        <dt>To</dt>
        <dd safe>{next}</dd>
        {Object.keys(carried).map((name) => (
          <>
            <dt safe>{name}</dt>
            <dd safe>{all(carried, name).join(', ')}</dd>
          </>
        ))}
      </dl>
      <form method="post" action={next}>
        <input type="hidden" name={formTokenField} value={formToken} />
        <HiddenValues values={carried} />
        <div class="buttons">
          <button class="primary">Send it now</button>
          <a href="/deck">Leave it</a>
        </div>
      </form>
    </section>,
  )
}
