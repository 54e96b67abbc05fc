/** The page that asks before something is done. */

import type { Visitor } from '../context.js'
import type { FieldFault } from '../field-fault.js'
import type { Values } from '../values.js'
import { Fault, FormToken, HiddenValues, ReasonField, TextField } from './form.js'

export interface ActionView {
  /** What would be done to what, as the database has it now. */
  readonly preview: () => JSX.Element
  /** Whoever confirms types this; for what means many rows, or can't be taken back. */
  readonly typed?: string
  /** How many there are in all, where that is more than are done at once. */
  readonly ofAll?: number
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
  /** What the visitor has seen: the number to confirm, or a digest of what the fields began with. */
  readonly seen: string | undefined
  /** The address of the same form, with what there is now. */
  readonly asItIs: string
  readonly reason: string
  readonly typed: string
  readonly fields: (() => JSX.Element) | undefined
  readonly fault: string | undefined
  /** Told beside its field, where `fault` is told above the buttons. */
  readonly fieldFault: FieldFault | undefined
  readonly back: string
}

export function ActionForm(props: ActionFormProps): JSX.Element {
  const { title, effect, view, path, formId, visitor, carried, reason, typed, fields } = props
  const { fault, fieldFault, back, seen, asItIs } = props
  return (
    <section class="action">
      <h1 safe>{title}</h1>
      <p class="lead" safe>
        {effect}
      </p>
      {view.preview()}
      {view.isVoid === true && fault === undefined && fieldFault === undefined ? (
        <div class="buttons">
          <a href={back}>Back</a>
        </div>
      ) : (
        <form method="post" action={path}>
          <FormToken {...{ visitor, formId }} />
          <HiddenValues values={{ ...carried, seen }} />
          {fields !== undefined && fields()}
          <ReasonField value={reason} fault={fieldFault} />
          {view.typed !== undefined && (
            <TypedField expected={view.typed} value={typed} fault={fieldFault} />
          )}
          <Fault text={fault} />
          <div class="buttons">
            <button class="primary" safe>
              {title}
            </button>
            <a href={back}>Cancel</a>
            {fault !== undefined && view.initial !== undefined && (
              <a href={asItIs} target="_blank">
                As it is now, in a new tab
              </a>
            )}
          </div>
        </form>
      )}
    </section>
  )
}

function TypedField(props: {
  readonly expected: string
  readonly value: string
  readonly fault: FieldFault | undefined
}): JSX.Element {
  const { expected, value, fault } = props
  const label = (
    <>
      Type <strong safe>{expected}</strong> to confirm
    </>
  )
  return <TextField name="typed" fault={fault} label={label} value={value} required />
}
