/**
 * Reads crm's deal-created event (topic pin.crm.deal-created.v1):
 *
 *   {"DealId","Title","ProjectId"?,"DeveloperCompanyId"?,"Members":[{"UserId","Role"}]}
 *
 * Tolerant where crm may change without asking: unknown fields are passed over, names are matched
 * whatever their case ("dealId", as .NET's web defaults write it), optional ones may be null, uuids
 * may be in upper case, and of a user listed twice the first mention counts. Strict where the
 * database would be: a message that can't be stored as it stands gives a reason and no deal.
 *
 * What can be stored but not provisioned (a blank title, no members, an unknown role) is not refused
 * here: it becomes a Failed provision with the guard's code, which an operator sees and can re-enqueue.
 */

import { z } from 'zod'
import { membersAtMost, type Member } from '../provisioning/guards.js'

export interface DealCreated {
  readonly dealId: string
  readonly title: string
  readonly projectId: string | null
  readonly dealTenantId: string | null
  /** Each user once. */
  readonly members: readonly Member[]
}

/** `reason` is for intake_parked: a code and where it is wrong, never a value of the message. */
export type Reading =
  | { readonly kind: 'deal'; readonly deal: DealCreated }
  | { readonly kind: 'unreadable'; readonly reason: string }

/**
 * Bytes. A thousand members and the longest title need 120 kB; parsing stops the whole process for
 * as long as it takes, so what is larger is not even tried.
 */
const largestValue = 1024 * 1024

/** Of what is wrong, as much as helps; a broken producer would fill the column. */
const faultsAtMost = 3

export function readDealCreated(value: Buffer | null): Reading {
  if (value === null) return unreadable('NO_VALUE')
  if (value.length > largestValue) return unreadable(`TOO_LARGE: ${value.length} bytes`)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(value)
  } catch {
    return unreadable('NOT_UTF8')
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The parser's own message quotes the text.
    return unreadable('NOT_JSON')
  }
  const checked = dealCreated.safeParse(json)
  if (checked.success) return { kind: 'deal', deal: checked.data }
  return unreadable(`SHAPE_INVALID: ${faultsOf(checked.error)}`)
}

function unreadable(reason: string): Reading {
  return { kind: 'unreadable', reason }
}

function faultsOf(error: z.ZodError): string {
  const { issues } = error
  const told = issues
    .slice(0, faultsAtMost)
    .map(({ path, message }) => `${path.join('.') || 'the value'} ${message}`)
  const more = issues.length - told.length
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

const nobody = '00000000-0000-0000-0000-000000000000'

/** Any 128 bits are a uuid to PostgreSQL and to .NET, whatever RFC 9562 says of versions. */
const uuid = z
  .string(says('must be a uuid'))
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be a uuid')
  .toLowerCase()

/** .NET's Guid.Empty is what a producer sends that forgot to fill the field in. */
const identity = uuid.refine((value) => value !== nobody, 'must not be the empty uuid')

/** Characters as PostgreSQL counts them; U+0000 and half surrogate pairs it can't keep. */
function text(atMost: number): z.ZodString {
  return z
    .string(says('must be text'))
    .refine((value) => Array.from(value).length <= atMost, `has more than ${atMost} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\u0000'),
      "holds a character that the database can't keep",
    )
}

const member = z.preprocess(
  ignoringCase(['UserId', 'Role']),
  z.object({ UserId: identity, Role: text(32) }, says('must be an object')),
)

const dealCreated = z
  .preprocess(
    ignoringCase(['DealId', 'Title', 'ProjectId', 'DeveloperCompanyId', 'Members']),
    z.object(
      {
        DealId: identity,
        Title: text(256),
        ProjectId: uuid.nullish(),
        DeveloperCompanyId: uuid.nullish(),
        Members: z
          .array(member, says('must be a list'))
          .max(membersAtMost, `has more than ${membersAtMost} entries`),
      },
      says('must be an object'),
    ),
  )
  .transform((value): DealCreated => ({
    dealId: value.DealId,
    title: value.Title,
    projectId: value.ProjectId ?? null,
    dealTenantId: value.DeveloperCompanyId ?? null,
    members: eachOnce(value.Members.map(({ UserId, Role }) => ({ userId: UserId, role: Role }))),
  }))

function eachOnce(members: readonly Member[]): Member[] {
  const byUser = new Map<string, Member>()
  for (const each of members) if (!byUser.has(each.userId)) byUser.set(each.userId, each)
  return [...byUser.values()]
}

/** Takes the named fields, however they are spelled; the exact spelling wins over another case. */
function ignoringCase(names: readonly string[]): (value: unknown) => unknown {
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const fields: Record<string, unknown> = {}
    for (const [spelled, field] of Object.entries(value)) {
      const name = byLowerCase.get(spelled.toLowerCase())
      if (name !== undefined && (name === spelled || !(name in fields))) fields[name] = field
    }
    return fields
  }
}

function says(otherwise: string): { error: (issue: { input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is missing' : otherwise) }
}
