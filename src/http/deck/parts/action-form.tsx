/** The page that asks before something is done. */

import type { Visitor } from '../context.js'
import type { Values } from '../values.js'
import { Fault, FormToken, HiddenValues, ReasonField } from './form.js'

export interface ActionView {
  /** What would be done to what, as the database has it now. */
  readonly preview: () => JSX.Element
  /** Whoever confirms types this; for what means many rows, or can't be taken back. */
  readonly typed?: string
  /** What the action's own fields hold until somebody has typed. */
  readonly initial?: Values
  /** Nothing is left to confirm. */
  readonly isVoid?: boolean
}

export interface ActionFormProps {
  readonly title: string
  readonly effect: string
  readonly view: ActionView
  readonly path: string
  readonly formId: string
  readonly visitor: Visitor
  readonly carried: Values
  readonly reason: string
  readonly typed: string
  readonly fields: (() => JSX.Element) | undefined
  readonly fault: string | undefined
  readonly back: string
}

export function ActionForm(props: ActionFormProps): JSX.Element {
  const { title, effect, view, path, formId, visitor, carried, reason, typed, fields } = props
  const { fault, back } = props
  return (
    <section class="action">
      <h1 safe>{title}</h1>
      <p class="lead" safe>
        {effect}
      </p>
      {view.preview()}
      {view.isVoid === true && fault === undefined ? (
        <div class="buttons">
          <a href={back}>Back</a>
        </div>
      ) : (
        <form method="post" action={path}>
          <FormToken {...{ visitor, formId }} />
          <HiddenValues values={{ ...carried, seen: view.typed }} />
          {fields !== undefined && fields()}
          <ReasonField value={reason} />
          {view.typed !== undefined && <TypedField expected={view.typed} value={typed} />}
          <Fault text={fault} />
          <div class="buttons">
            <button class="primary" safe>
              {title}
            </button>
            <a href={back}>Cancel</a>
          </div>
        </form>
      )}
    </section>
  )
}

function TypedField(props: { readonly expected: string; readonly value: string }): JSX.Element {
  return (
    <label class="field">
      <span>
        Type <strong safe>{props.expected}</strong> to confirm
      </span>
      <input type="text" name="typed" value={props.value} required autocomplete="off" />
    </label>
  )
}
