/** What an option is, and the kinds of values that several of them share. */

import { matching, maxInteger, wholeNumber, type Kind } from './value-kinds.js'

/** What a command uses beyond the options that all share. */
export interface Needs {
  readonly database: boolean
  /** It will talk to Kafka if OUTBOX_RELAY or INTAKE_ENABLED say so. */
  readonly kafka: boolean
  readonly http: boolean
}

export interface Option<T> {
  readonly kind: Kind<T>
  readonly about: string
  /** As one would write it; absent where the option may stay unset. */
  readonly default?: string
  /** For the table, where the default is no value of its own. */
  readonly shownDefault?: string
  /** Never quoted, neither in a fault nor on a page. */
  readonly secret?: true
  /** Only commands with this need open its NAME_FILE. */
  readonly need?: keyof Needs
}

export type OptionGroup = Readonly<Record<string, Option<unknown>>>

/** Counts runs; the database's counter is an integer. */
export const attempts = wholeNumber(1, maxInteger)
/** A batch is one statement's result in memory: ten thousand rows are some megabytes. */
export const batch = wholeNumber(1, 10_000)
export const plainName = matching(
  /^\S{1,249}$/,
  'a name without white space, at most 249 characters',
)
export const notBlank = matching(/\S/, 'not blank')
