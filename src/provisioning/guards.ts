/**
 * What a provision must satisfy before a chat is made from it, and a chat before it is taken for the
 * deal's. Pure: each guard gives a code of the `guard` class (last_error is `guard:CODE`) or nothing.
 */

export type GuardCode =
  | 'TITLE_BLANK'
  | 'NO_MEMBERS'
  | 'MEMBERS_TOO_MANY'
  | 'ROLE_UNKNOWN'
  | 'CHAT_NOT_ACTIVE'
  | 'CHAT_KIND_MISMATCH'
  | 'TENANT_MISMATCH'

/** Thrown where a guard rejects; the row's own failure, so it is recorded and backed off. */
export class GuardRejection extends Error {
  readonly code: GuardCode

  constructor(code: GuardCode) {
    super(`The provision was rejected: ${code}`)
    this.name = 'GuardRejection'
    this.code = code
  }
}

export interface Member {
  readonly userId: string
  readonly role: string
}

/** A deal has a handful of people; a thousand is a broken feed, and would hold the row for long. */
export const membersAtMost = 1000

/**
 * A title in which a person sees nothing. White space is not all of that: zero-width spaces, soft
 * hyphens, marks of writing direction and fillers come along with copied text, controls from broken
 * feeds, and the empty Braille cell is what people type to get a "blank" name past a check like this.
 */
const blank = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Control}\u2800]*$/u

export function isBlank(title: string): boolean {
  return blank.test(title)
}

export function rejectProvision(
  provision: { readonly title: string; readonly members: readonly Member[] },
  knownRoles: ReadonlySet<string>,
): GuardCode | undefined {
  if (isBlank(provision.title)) return 'TITLE_BLANK'
  return rejectMembers(provision.members, knownRoles)
}

export function rejectMembers(
  members: readonly Member[],
  knownRoles: ReadonlySet<string>,
): GuardCode | undefined {
  if (members.length === 0) return 'NO_MEMBERS'
  if (members.length > membersAtMost) return 'MEMBERS_TOO_MANY'
  if (members.some((member) => !knownRoles.has(member.role))) return 'ROLE_UNKNOWN'
  return undefined
}

export function rejectChat(
  chat: { readonly status: string; readonly kind: string; readonly dealTenantId: string | null },
  dealTenantId: string | null,
): GuardCode | undefined {
  if (chat.kind !== 'Deal') return 'CHAT_KIND_MISMATCH'
  if (chat.status !== 'Active') return 'CHAT_NOT_ACTIVE'
  const bothSet = chat.dealTenantId !== null && dealTenantId !== null
  if (bothSet && chat.dealTenantId !== dealTenantId) return 'TENANT_MISMATCH'
  return undefined
}
