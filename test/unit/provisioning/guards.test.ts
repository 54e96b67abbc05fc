/** Each guard's code, which one speaks first, and where the limits lie. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  GuardRejection,
  membersAtMost,
  rejectChat,
  rejectProvision,
} from '../../../src/provisioning/guards.js'

const knownRoles = new Set(['Owner', 'Member', 'Observer'])
const owner = { userId: randomUUID(), role: 'Owner' }
const king = { userId: randomUUID(), role: 'King' }
const members = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ userId: `user ${n}`, role: 'Member' }))

const codeFor = (provision: Partial<Parameters<typeof rejectProvision>[0]>) =>
  rejectProvision({ title: 'Объект №7', members: [owner], ...provision }, knownRoles)

describe('a title', () => {
  /** What a person sees nothing of, though not all of it counts as white space in Unicode. */
  const blanks: [string, string][] = [
    ['nothing', ''],
    ['spaces', '   '],
    ['tabs and line ends', '\t\r\n\v\f'],
    ['no-break spaces U+00A0, U+202F', '\u00a0\u202f'],
    ['em and other wide spaces U+2000 to U+200A, U+3000', '\u2000\u2003\u200a\u3000'],
    ['line and paragraph separators U+2028, U+2029', '\u2028\u2029'],
    ['next line U+0085', '\u0085'],
    ['other controls', '\u0001\u001b\u007f'],
    ['zero-width space and joiners U+200B to U+200D', '\u200b\u200c\u200d'],
    ['byte order mark and word joiner U+FEFF, U+2060', '\ufeff\u2060'],
    ['marks of writing direction U+200E, U+202E, U+2067', '\u200e\u202e\u2067'],
    ['soft hyphens U+00AD', '\u00ad'],
    ['Hangul fillers U+115F, U+3164, U+FFA0', '\u115f\u3164\uffa0'],
    ['an empty Braille cell U+2800', '\u2800'],
    ['variation selectors and tags', '\ufe0f\u{e0020}'],
    ['a mixture', ' \u200b\u00a0\u2800\t'],
  ]
  it.each(blanks)('of %s is blank', (_, title) => {
    expect(codeFor({ title })).toBe('TITLE_BLANK')
  })

  it('is blank however often and in whatever order these come', () => {
    const invisible = fc.constantFrom(...new Set(blanks.flatMap(([, title]) => Array.from(title))))
    fc.assert(
      fc.property(fc.string({ unit: invisible, maxLength: 256 }), (title) => {
        expect(codeFor({ title })).toBe('TITLE_BLANK')
      }),
    )
  })

  it.each([
    'x',
    '.',
    '0',
    '  x  ',
    '\u200bx',
    'x\u2800',
    '№',
    '🏠',
    '👨\u200d👩\u200d👧',
    'שָׁלוֹם',
    '\u0600',
    '\ud800',
    '-',
    '―',
  ])('that shows something is none: %j', (title) => {
    expect(codeFor({ title })).toBeUndefined()
  })
})

describe('members', () => {
  it('must be there, and at most a thousand', () => {
    expect(membersAtMost).toBe(1000)
    expect(codeFor({ members: [] })).toBe('NO_MEMBERS')
    expect(codeFor({ members: members(1) })).toBeUndefined()
    expect(codeFor({ members: members(1000) })).toBeUndefined()
    expect(codeFor({ members: members(1001) })).toBe('MEMBERS_TOO_MANY')
    expect(codeFor({ members: members(100_000) })).toBe('MEMBERS_TOO_MANY')
  })

  it.each(['King', 'owner', 'Owner ', '', '__proto__', 'constructor'])(
    'must all have a known role, not %j',
    (role) => {
      expect(codeFor({ members: [owner, { ...king, role }] })).toBe('ROLE_UNKNOWN')
      expect(codeFor({ members: [{ ...king, role }, owner] })).toBe('ROLE_UNKNOWN')
    },
  )

  it('may have any of the roles that the options name', () => {
    expect(rejectProvision({ title: 'x', members: [king] }, new Set(['King']))).toBeUndefined()
    const all = [...knownRoles].map((role) => ({ userId: randomUUID(), role }))
    expect(codeFor({ members: all })).toBeUndefined()
  })
})

it('of several faults the title speaks first, then the number of members, then their roles', () => {
  const tooMany = [...members(1000), king]
  expect(codeFor({ title: ' ', members: [] })).toBe('TITLE_BLANK')
  expect(codeFor({ title: ' ', members: tooMany })).toBe('TITLE_BLANK')
  expect(codeFor({ members: tooMany })).toBe('MEMBERS_TOO_MANY')
})

describe('a chat that is there', () => {
  const tenant = randomUUID()
  const chat = { kind: 'Deal', status: 'Active', dealTenantId: tenant }

  it('is taken where it is an active one for deals, of the same tenant', () => {
    expect(rejectChat(chat, tenant)).toBeUndefined()
  })

  it('must be of kind Deal, above all', () => {
    expect(rejectChat({ ...chat, kind: 'Group' }, tenant)).toBe('CHAT_KIND_MISMATCH')
    expect(rejectChat({ kind: 'Group', status: 'Archived', dealTenantId: 'x' }, tenant)).toBe(
      'CHAT_KIND_MISMATCH',
    )
  })

  it.each(['Archived', 'active', ''])('must be Active, not %j', (status) => {
    expect(rejectChat({ ...chat, status }, tenant)).toBe('CHAT_NOT_ACTIVE')
    expect(rejectChat({ ...chat, status, dealTenantId: 'x' }, tenant)).toBe('CHAT_NOT_ACTIVE')
  })

  it('must not be of another tenant; unknown on either side is no contradiction', () => {
    expect(rejectChat(chat, randomUUID())).toBe('TENANT_MISMATCH')
    expect(rejectChat({ ...chat, dealTenantId: null }, tenant)).toBeUndefined()
    expect(rejectChat(chat, null)).toBeUndefined()
    expect(rejectChat({ ...chat, dealTenantId: null }, null)).toBeUndefined()
  })
})

it('a rejection is an error that carries its code', () => {
  const rejection = new GuardRejection('NO_MEMBERS')
  expect(rejection).toBeInstanceOf(Error)
  expect(rejection).toMatchObject({ name: 'GuardRejection', code: 'NO_MEMBERS' })
  expect(rejection.message).toBe('The provision was rejected: NO_MEMBERS')
})
