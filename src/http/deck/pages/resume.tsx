/** A form that was sent from a session that had ended, or another: shown once more, to be sent again. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { formIdIn, formTokenField, newFormId, type FormTokens } from '../form-token.js'
import { HiddenValues } from '../parts/form.js'
import { sendPage } from '../send-page.js'
import { all, one, without, type Values } from '../values.js'

export interface ResumeView {
  readonly status?: number
  /** Of the session that there is now. */
  readonly forms: FormTokens
  /** Where the form goes to. */
  readonly next: string
  /** All that was sent. */
  readonly carried: Values
}

export async function sendResume(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, forms, next, carried }: ResumeView,
): Promise<FastifyReply> {
  // It stays the same form: should it have been carried out in that other session, it is not again.
  const formId = formIdIn(one(carried, formTokenField)) ?? newFormId()
  const typed = without(carried, [formTokenField])
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
        {Object.keys(typed).map((name) => (
          <>
            <dt safe>{name}</dt>
            <dd safe>{all(typed, name).join(', ')}</dd>
          </>
        ))}
      </dl>
      <form method="post" action={next}>
        <input type="hidden" name={formTokenField} value={forms.issue(formId)} />
        <HiddenValues values={typed} />
        <div class="buttons">
          <button class="primary">Send it now</button>
          <a href="/deck">Leave it</a>
        </div>
      </form>
    </section>,
  )
}
