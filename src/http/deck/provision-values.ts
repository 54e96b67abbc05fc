/** Which provisions a page or a form means, by the names of their fields. */

import type { ProvisionFilterInput } from '../../operations/provision-filter.js'
import { one, type Values } from './values.js'

export function filterInputOf(values: Values): ProvisionFilterInput {
  const state = one(values, 'state')
  return {
    ...(state === 'poison' ? { poison: true } : { status: state }),
    error: one(values, 'error'),
    tenant: one(values, 'tenant'),
    olderThan: one(values, 'olderThan'),
  }
}
