/** Forms that change something: a token, what is carried along, what is wrong, and the fields. */

import { longestReason } from '../../../operations/read-input.js'
import type { Visitor } from '../context.js'
import { formTokenField, newFormId } from '../form-token.js'
import { all, type Values } from '../values.js'

/** @param props.formId of a form that is shown again; else it is a new one */
export function FormToken(props: {
  readonly visitor: Visitor
  readonly formId?: string
}): JSX.Element {
  const { visitor, formId = newFormId() } = props
  return <input type="hidden" name={formTokenField} value={visitor.forms.issue(formId)} />
}

/** @param prefix in front of each name */
export function HiddenValues(props: {
  readonly values: Values
  readonly prefix?: string
}): JSX.Element {
  const { values, prefix = '' } = props
  return (
    <>
      {Object.keys(values).flatMap((name) =>
        all(values, name).map((value) => (
          <input type="hidden" name={`${prefix}${name}`} value={value} />
        )),
      )}
    </>
  )
}

/** Beside what it is about; read out at once. */
export function Fault({ text }: { readonly text: string | undefined }): JSX.Element {
  if (text === undefined) return <></>
  return (
    <p class="fault" role="alert" safe>
      {text}
    </p>
  )
}

export function ReasonField({ value }: { readonly value: string }): JSX.Element {
  return (
    <label class="field">
      <span>Reason, for the audit</span>
      <textarea name="reason" rows="3" required maxlength={String(longestReason)} safe>
        {value}
      </textarea>
    </label>
  )
}
