/** What a `class:code` of last_error means, for whoever has not met it before. Pure. */

import type { GuardCode } from '../provisioning/guards.js'
import { membersAtMost } from '../provisioning/guards.js'
import type { RowFailureClass } from '../provisioning/last-error.js'

const ofGuards: Readonly<Record<GuardCode, string>> = {
  TITLE_BLANK: 'the title shows nothing',
  NO_MEMBERS: 'the deal lists nobody',
  MEMBERS_TOO_MANY: `the deal lists more than ${membersAtMost} members`,
  ROLE_UNKNOWN: 'a member has a role that is not among PARTICIPANT_ROLES',
  CHAT_NOT_ACTIVE: 'its chat is there, and not Active',
  CHAT_KIND_MISMATCH: 'its chat is there, and not of kind Deal',
  TENANT_MISMATCH: 'its chat is there, and of another tenant',
}

const ofClasses: Readonly<Record<RowFailureClass, string>> = {
  guard: 'a rule of the provision was broken',
  constraint: "a rule of the messenger's tables was broken",
  data: 'a value does not fit its column',
  bug: 'a fault of the service, or of a trigger',
  contention: 'others held what it needs, or its session was ended',
  crash: 'the worker died while it was at it',
}

/** Undefined for what no version of this service writes. */
export function errorMeaning(lastError: string): string | undefined {
  const [failureClass = '', code = ''] = lastError.split(':', 2)
  if (failureClass === 'guard' && Object.hasOwn(ofGuards, code)) return ofGuards[code as GuardCode]
  return Object.hasOwn(ofClasses, failureClass)
    ? ofClasses[failureClass as RowFailureClass]
    : undefined
}
