/** Which jobs a page or a form means, by the names of their fields. */

import { jobStates } from '../../chokaq/index.js'
import { AppError } from '../../errors.js'
import type { JobsFilter } from '../../operations/list-jobs.js'
import { one, type Values } from './values.js'

export const jobPlaces = [
  { value: 'hot', text: 'Hot: live' },
  { value: 'archive', text: 'Archive: done' },
  { value: 'dlq', text: 'DLQ: dead' },
] as const

const names = ['place', 'state', 'queue', 'type', 'error'] as const

/** What of the address or the form narrows the list. */
export function jobFilterValuesOf(values: Values): Values {
  return Object.fromEntries(names.map((name) => [name, one(values, name)]))
}

/** @throws AppError INPUT_INVALID */
export function jobFilterOf(
  values: Values,
): JobsFilter & { readonly place: 'hot' | 'archive' | 'dlq' } {
  const placeText = one(values, 'place') ?? 'hot'
  const place = jobPlaces.find(({ value }) => value === placeText)?.value
  const stateText = one(values, 'state')
  const state = jobStates.find((name) => name === stateText)
  if (place === undefined || (stateText !== undefined && state === undefined))
    throw new AppError('INPUT_INVALID', 'There is no such place or state of jobs.')
  const [queue, type, error] = [one(values, 'queue'), one(values, 'type'), one(values, 'error')]
  return { place, state, queue, type, error }
}
