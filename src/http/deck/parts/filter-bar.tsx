/** What a list is narrowed by: a form whose fields are the page's address, so that it can be shared. */

import { one, type Values } from '../values.js'
import { Fault } from './form.js'

export interface FilterField {
  readonly name: string
  readonly label: string
  /** Absent: free text. */
  readonly options?: readonly { readonly value: string; readonly text: string }[]
  readonly placeholder?: string
  readonly isWide?: boolean
}

export interface FilterBarProps {
  readonly path: string
  readonly fields: readonly FilterField[]
  readonly values: Values
  readonly fault: string | undefined
}

export function FilterBar({ path, fields, values, fault }: FilterBarProps): JSX.Element {
  const isNarrowed = fields.some(({ name }) => one(values, name) !== undefined)
  return (
    <search>
      <form class="filter" method="get" action={path}>
        {fields.map((field) => (
          <label class={[field.isWide && 'wide']}>
            <span safe>{field.label}</span>
            <FilterInput field={field} value={one(values, field.name) ?? ''} />
          </label>
        ))}
        <div class="buttons">
          <button>Filter</button>
          {isNarrowed && <a href={path}>Clear</a>}
        </div>
      </form>
      <Fault text={fault} />
    </search>
  )
}

function FilterInput(props: { readonly field: FilterField; readonly value: string }): JSX.Element {
  const { field, value } = props
  if (field.options === undefined) {
    return (
      <input
        type="text"
        name={field.name}
        value={value}
        placeholder={field.placeholder}
        maxlength="512"
        autocomplete="off"
        spellcheck="false"
      />
    )
  }
  return (
    <select name={field.name}>
      {field.options.map((option) => (
        <option value={option.value} selected={option.value === value} safe>
          {option.text}
        </option>
      ))}
    </select>
  )
}
