/** What a page's address or form holds: texts by name, each once or more often. */

import { AppError, type ErrorCode } from '../../errors.js'
import { quoted } from '../../operations/read-input.js'
import { FieldError } from './field-fault.js'

export type Values = Readonly<Record<string, string | readonly string[] | undefined>>

/** As fastify has parsed a query or a form; anything else is as empty. */
export function valuesOf(input: unknown): Values {
  if (typeof input !== 'object' || input === null) return {}
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value),
    ]),
  )
}

/** The value, trimmed; undefined where it is missing or blank. Of several the last one counts. */
export function one(values: Values, name: string): string | undefined {
  const text = all(values, name).at(-1)?.trim()
  return text === '' ? undefined : text
}

export function all(values: Values, name: string): readonly string[] {
  const value = values[name]
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/**
 * A form is taken as a whole or not at all: of two reasons nobody knows which was meant.
 *
 * @param allowed names that may be given more than once
 * @throws FieldError
 */
export function refuseRepeated(values: Values, allowed: readonly string[] = []): void {
  const twice = Object.keys(values).find(
    (name) => !allowed.includes(name) && all(values, name).length > 1,
  )
  if (twice === undefined) return
  throw new FieldError(twice, `${quoted(twice)} is given more than once. Give it once.`)
}

export function without(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
}

/** `?a=1&b=2`, or nothing where nothing is set. */
export function queryOf(values: Values): string {
  const query = new URLSearchParams()
  for (const name of Object.keys(values)) {
    for (const text of all(values, name)) if (text !== '') query.append(name, text)
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** Errors that whoever filled in a form can mend there and then. */
const inputFaults: readonly ErrorCode[] = ['INPUT_INVALID', 'TOO_MANY', 'USAGE', 'NOT_FOUND']

/** What to say beside the form; undefined for every other error. */
export function inputFault(error: unknown): string | undefined {
  return error instanceof AppError && inputFaults.includes(error.code) ? error.message : undefined
}
