/** Forms that change something: a token, what is carried along, what is wrong, and the fields. */

import type { Children } from '@kitajs/html'
import { longestReason } from '../../../operations/read-input.js'
import type { Visitor } from '../context.js'
import type { FieldFault } from '../field-fault.js'
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

interface FieldProps {
  readonly name: string
  /** Of the form as a whole: it is told here if it is this field's. */
  readonly fault: FieldFault | undefined
}

/**
 * A field with its label and, beside it, what is wrong with it.
 *
 * @param props.label an element, or a text of ours
 * @param props.children the input, which sees to its own escaping
 */
export function Field(
  props: FieldProps & { readonly label: Children; readonly children: Children },
): JSX.Element {
  const { name, fault, label, children } = props
  return (
    <div class="field">
      <label>
        <span>{label}</span>
        {children}
      </label>
      {fault?.field === name && (
        <p class="fault" role="alert" id={faultId(name)} safe>
          {fault.text}
        </p>
      )}
    </div>
  )
}

/** A field of one line. */
export function TextField(
  props: FieldProps & {
    readonly label: Children
    readonly value: string
    readonly required?: boolean
    readonly inputmode?: 'numeric'
  },
): JSX.Element {
  const { name, fault, label, value, required = false, ...hints } = props
  return (
    <Field name={name} fault={fault} label={label}>
      <input
        type="text"
        name={name}
        value={value}
        {...hints}
        required={required}
        autocomplete="off"
        {...faultMarks({ name, fault })}
      />
    </Field>
  )
}

/** Attributes of the input by which browsers and screen readers know that it is wrong, and why. */
export function faultMarks({ name, fault }: FieldProps) {
  return fault?.field === name
    ? { 'aria-invalid': 'true', 'aria-describedby': faultId(name), autofocus: true }
    : {}
}

function faultId(name: string): string {
  return `${name}-fault`
}

export function ReasonField(props: {
  readonly value: string
  readonly fault: FieldFault | undefined
}): JSX.Element {
  const field = { name: 'reason', fault: props.fault }
  return (
    <Field {...field} label="Reason, for the audit">
      <textarea
        name="reason"
        rows="3"
        required
        maxlength={String(longestReason)}
        {...faultMarks(field)}
        safe
      >
        {props.value}
      </textarea>
    </Field>
  )
}
