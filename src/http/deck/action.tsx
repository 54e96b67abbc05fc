/**
 * An action of The Deck, the one way for all of them: a page that says what will happen and asks why,
 * whose form carries it out, leaves a notice and leads back. Where it fails, the same page comes again
 * with what was wrong and what was typed. `pages/requeue.tsx` is the example.
 *
 * A form is carried out once, however often it is sent. Its id is in the page's address, so that who goes
 * back, or reads the page anew, has the same form in front of them.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { carryOutOnce, outcomeOf, requestOf, type Keep } from '../../operations/once.js'
import { readOrder, type Order } from '../../operations/read-input.js'
import { refuseWrite } from '../api/access.js'
import { problemOfError } from '../problem-of-error.js'
import { checkConfirmed, checkUnchanged, seenOf } from './confirmation.js'
import type { DeckContext, DeckServer } from './context.js'
import { fieldOf, inField, type FieldFault } from './field-fault.js'
import { formLimitBytes } from './form-limit.js'
import { formTokenField, isFormId, newFormId } from './form-token.js'
import { leaveNotice, readNotice, type Notice } from './notice.js'
import { sendErrorPage } from './pages/error.js'
import { ActionForm, type ActionView } from './parts/action-form.js'
import { SentBefore } from './parts/sent-before.js'
import type { Section } from './sections.js'
import { sendPage, visitorOf } from './send-page.js'
import { begun, doneBefore, notBegun, otherIsOpen, otherWasDone } from './sent-again.js'
import {
  inputFault,
  one,
  queryOf,
  refuseRepeated,
  valuesOf,
  without,
  type Values,
} from './values.js'

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
  /** Fields beside the reason, each with what is wrong with it. */
  readonly fields?: (values: Values, fault: FieldFault | undefined) => JSX.Element
  /** The names of those fields: what else the form holds is carried along unseen. */
  readonly fieldNames?: readonly string[]
  /** Those of them all that may be given more than once. */
  readonly repeated?: readonly string[]
  /**
   * Not run twice for one form, but beside a try of it that has hung: rows are guarded by the order's
   * `requestId`, a job by keeping the notice in the transaction that makes it.
   *
   * @throws AppError with what is wrong, told in the form; `refuseStopped` where it was ended early
   */
  readonly carryOut: (
    subject: Subject,
    order: Order,
    request: FastifyRequest,
    confirmed: Confirmed,
  ) => Promise<Notice>
  /** The page to go back to. */
  readonly back: (subject: Subject) => string
}

export interface Confirmed {
  readonly view: ActionView
  /** Keeps the notice when and only when the transaction commits. */
  readonly keep: Keep<Notice>
}

/** What every action's form asks, or carries. */
const ownFields = ['reason', 'typed', 'seen', 'form', formTokenField]

/** Rows may wait for locks; what is left when it passes is done by sending the form again. */
const timeoutMs = 60_000

interface Again {
  readonly status: number
  readonly fault: string
  /** The one field that it is of. */
  readonly field?: string | undefined
}

export function addAction<Subject>(
  app: DeckServer,
  { db, config, logFailure }: Pick<DeckContext, 'db' | 'config' | 'logFailure'>,
  action: Action<Subject>,
): void {
  const { path, section, title, effect, fields, fieldNames = [], carryOut, back } = action

  async function ask(
    request: FastifyRequest,
    reply: FastifyReply,
    { formId, values, again }: { formId: string; values: Values; again?: Again },
  ): Promise<FastifyReply> {
    const subject = action.read(values, request)
    const view = await lookAt(subject, values, again !== undefined)
    const { fault, fieldFault } = placed(again, view)
    return sendPage(
      request,
      reply,
      { status: again?.status ?? 200, title, section },
      <ActionForm
        {...{ title, effect, view, formId }}
        path={pathOf(request)}
        visitor={visitorOf(request)}
        carried={without(values, [...ownFields, ...fieldNames])}
        seen={again !== undefined && view.typed === undefined ? one(values, 'seen') : seenOf(view)}
        asItIs={`${pathOf(request)}${queryOf(without(values, [...ownFields, ...fieldNames]))}`}
        reason={one(values, 'reason') ?? ''}
        typed={one(values, 'typed') ?? ''}
        fields={fields && (() => fields({ ...view.initial, ...values }, fieldFault))}
        {...{ fault, fieldFault }}
        back={back(subject)}
      />,
    )
  }

  /** Beside the field where there is that field, else above the buttons. */
  function placed(again: Again | undefined, { typed }: ActionView) {
    const shown = [...fieldNames, 'reason', ...(typed === undefined ? [] : ['typed'])]
    if (again?.field === undefined || !shown.includes(again.field))
      return { fault: again?.fault, fieldFault: undefined }
    return { fault: undefined, fieldFault: { field: again.field, text: again.fault } }
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
    const query = valuesOf(request.query)
    // Whoever made the link must not have filled in the form: what confirms is typed here.
    const values = without(query, [...ownFields, ...fieldNames])
    const formId = one(query, 'form')
    const at = (form: string) => `${pathOf(request)}${queryOf({ ...values, form })}`
    if (!isFormId(formId)) return reply.redirect(at(newFormId()), 303)
    const before = readNotice(await outcomeOf(db, requestIdOf(request, formId)))
    if (before === undefined) return ask(request, reply, { formId, values })
    return sendPage(
      request,
      reply,
      { title, section },
      <SentBefore
        {...{ title }}
        notice={before}
        anew={at(newFormId())}
        back={back(action.read(values, request))}
      />,
    )
  })

  app.post(path, { bodyLimit: formLimitBytes, config: { timeoutMs } }, async (request, reply) => {
    const { caller, forms } = visitorOf(request)
    const values = valuesOf(request.body)
    const subject = action.read(values, request)
    const formId = forms.read(one(values, formTokenField)) ?? newFormId()
    const id = requestIdOf(request, formId)
    let hasBegun = false
    try {
      refuseRepeated(values, action.repeated)
      const given = { by: caller.actor, reason: one(values, 'reason') }
      const order = inField('reason', () => readOrder(given))
      const asked = without(values, [formTokenField])
      const once = await carryOutOnce(
        db,
        requestOf(id, asked),
        async ({ id: requestId }, keep: Keep<Notice>) => {
          const view = await action.view(subject, values)
          checkConfirmed(view, values)
          checkUnchanged(view, values)
          hasBegun = true
          return carryOut(subject, { ...order, requestId }, request, { view, keep })
        },
      )
      if (once.isOther) {
        const fault = once.firstIsDone ? otherWasDone : otherIsOpen
        const again = { status: 409, fault }
        return await ask(request, reply, { formId: newFormId(), values, again })
      }
      leaveNotice(reply, once.isRepeat ? doneBefore(once.outcome) : once.outcome)
    } catch (error) {
      const again = tell(request, error, hasBegun)
      return ask(request, reply, { formId, values, again })
    }
    return reply.redirect(back(subject), 303)
  })

  /** What is said in the form, of every error: nothing that was typed is lost. */
  function tell(request: FastifyRequest, error: unknown, hasBegun: boolean): Again {
    const known = problemOfError(error)
    if (known === undefined || known.status >= 500) logFailure(request, error, known)
    const fault = inputFault(error)
    const field = fieldOf(error)
    if (known !== undefined && fault !== undefined) return { status: known.status, fault, field }
    const why = known?.detail ?? 'This is a fault of the service; its log says more.'
    if (known !== undefined && known.status < 500)
      return { status: known.status, fault: why, field }
    return { status: known?.status ?? 500, fault: `${why} ${hasBegun ? begun : notBegun}` }
  }
}

/** Where a form was sent, and which one it was. */
function requestIdOf(request: FastifyRequest, formId: string): readonly string[] {
  return ['deck', pathOf(request), formId]
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? ''
}

/**
 * Of a result that was ended early: the same form, sent again, goes on from there.
 *
 * @throws AppError
 */
export function refuseStopped({ stopped }: { readonly stopped: boolean }): void {
  if (!stopped) return
  throw new AppError('DATABASE_UNAVAILABLE', 'It was ended before all was done.')
}

function UnknownPreview(): JSX.Element {
  return <p class="hint">What it would do can't be read at the moment.</p>
}
