/**
 * An action of The Deck, the one way for all of them: a page that says what will happen and asks why,
 * whose form carries it out, leaves a notice and leads back. Where it fails, the same page comes again
 * with what was wrong and what was typed. `pages/requeue.tsx` is the example.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { readOrder, type Order } from '../../operations/read-input.js'
import { refuseWrite } from '../api/access.js'
import { problemOfError } from '../problem-of-error.js'
import type { DeckContext, DeckServer } from './context.js'
import { formTokenField } from './form-token.js'
import { leaveNotice, type Notice } from './notice.js'
import { sendErrorPage } from './pages/error.js'
import { ActionForm, type ActionView } from './parts/action-form.js'
import type { Section } from './sections.js'
import { sendPage, visitorOf } from './send-page.js'
import { inputFault, one, valuesOf, without, type Values } from './values.js'

export interface Action<Subject> {
  /** Below /deck, in fastify's form. */
  readonly path: string
  readonly section: Section
  /** Of the heading and the button. */
  readonly title: string
  /** What will happen, in a sentence or two. */
  readonly effect: string
  /** @throws AppError INPUT_INVALID where the address or the form means nothing */
  readonly read: (values: Values, request: FastifyRequest) => Subject
  readonly view: (subject: Subject, values: Values) => Promise<ActionView>
  /** Fields beside the reason. */
  readonly fields?: (values: Values) => JSX.Element
  /** The names of those fields: what else the form holds is carried along unseen. */
  readonly fieldNames?: readonly string[]
  /** @throws AppError with what is wrong, told in the form */
  readonly carryOut: (subject: Subject, order: Order, request: FastifyRequest) => Promise<Notice>
  /** The page to go back to. */
  readonly back: (subject: Subject) => string
}

/** What every action's form asks. */
const ownFields = ['reason', 'typed', formTokenField]

export function addAction<Subject>(
  app: DeckServer,
  { config, logFailure }: Pick<DeckContext, 'config' | 'logFailure'>,
  action: Action<Subject>,
): void {
  const { path, section, title, effect, fields, fieldNames = [], carryOut, back } = action

  async function ask(
    request: FastifyRequest,
    reply: FastifyReply,
    values: Values,
    failure?: { readonly status: number; readonly fault: string },
  ): Promise<FastifyReply> {
    const subject = action.read(values, request)
    const view = await lookAt(subject, values, failure !== undefined)
    return sendPage(
      request,
      reply,
      { status: failure?.status ?? 200, title, section },
      <ActionForm
        {...{ title, effect, view }}
        path={request.url.split('?', 1)[0] ?? ''}
        visitor={visitorOf(request)}
        carried={without(values, [...ownFields, ...fieldNames])}
        reason={one(values, 'reason') ?? ''}
        typed={one(values, 'typed') ?? ''}
        fields={fields && (() => fields(values))}
        fault={failure?.fault}
        back={back(subject)}
      />,
    )
  }

  /** After a failure the form is shown even where the database can't be read. */
  async function lookAt(subject: Subject, values: Values, isAgain: boolean): Promise<ActionView> {
    try {
      return await action.view(subject, values)
    } catch (error) {
      if (!isAgain) throw error
      return { preview: UnknownPreview }
    }
  }

  app.get(path, async (request, reply) => {
    const refusal = refuseWrite(visitorOf(request).caller, config.deck)
    if (refusal !== undefined) return sendErrorPage(request, reply, refusal)
    return ask(request, reply, valuesOf(request.query))
  })

  app.post(path, async (request, reply) => {
    const values = valuesOf(request.body)
    const subject = action.read(values, request)
    try {
      const by = visitorOf(request).caller.actor
      const order = readOrder({ by, reason: one(values, 'reason') })
      checkTyped(await action.view(subject, values), one(values, 'typed'))
      leaveNotice(reply, await carryOut(subject, order, request))
    } catch (error) {
      const known = problemOfError(error)
      const fault = inputFault(error) ?? known?.detail
      if (known === undefined || fault === undefined) throw error
      if (known.status >= 500) logFailure(request, error, known)
      return ask(request, reply, values, { status: known.status, fault })
    }
    return reply.redirect(back(subject), 303)
  })
}

function checkTyped({ typed }: ActionView, given: string | undefined): void {
  if (typed === undefined || typed === given) return
  throw new AppError('INPUT_INVALID', `Type ${typed} to confirm. Nothing was done.`)
}

function UnknownPreview(): JSX.Element {
  return <p class="hint">What it would do can't be read at the moment.</p>
}
