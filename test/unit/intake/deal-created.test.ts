/** What the intake can read, what it passes over, and the reason for each thing that it refuses. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDealCreated } from '../../../src/intake/deal-created.js'

const dealId = '0b8c1f6e-5a52-4d6a-9a5f-3c1f7a9b0001'
const userId = '0b8c1f6e-5a52-4d6a-9a5f-3c1f7a9b0002'
const good = { DealId: dealId, Title: 'Сделка', Members: [{ UserId: userId, Role: 'Owner' }] }

function read(value: unknown) {
  return readDealCreated(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
}

function readGood(value: unknown) {
  const reading = read(value)
  if (reading.kind !== 'deal') throw new Error(reading.reason)
  return reading.deal
}

describe('a deal-created that can be read', () => {
  it('has what the intention needs', () => {
    expect(readGood(good)).toEqual({
      dealId,
      title: 'Сделка',
      projectId: null,
      dealTenantId: null,
      members: [{ userId, role: 'Owner' }],
    })
  })

  it('may have optional fields, null or filled', () => {
    expect(readGood({ ...good, ProjectId: userId, DeveloperCompanyId: null })).toMatchObject({
      projectId: userId,
      dealTenantId: null,
    })
    expect(readGood({ ...good, ProjectId: null, DeveloperCompanyId: userId })).toMatchObject({
      projectId: null,
      dealTenantId: userId,
    })
  })

  it('may carry fields that are not known here, and a byte order mark', () => {
    const text = JSON.stringify({ ...good, Price: 1, Members: [{ ...good.Members[0], Name: 'X' }] })
    expect(readGood(`\ufeff${text}`)).toEqual(readGood(good))
  })

  it('may be spelled in another case; the exact spelling wins', () => {
    const camel = { dealId, title: 'Сделка', members: [{ userId, role: 'Owner' }] }
    expect(readGood(camel)).toEqual(readGood(good))
    expect(readGood({ title: 'before', ...good, TITLE: 'after' })).toEqual(readGood(good))
  })

  it('may have uuids in upper case, which are the same ones', () => {
    const shouted = {
      ...good,
      DealId: dealId.toUpperCase(),
      Members: [
        { UserId: userId.toUpperCase(), Role: 'Owner' },
        { UserId: userId, Role: 'Observer' },
      ],
    }
    expect(readGood(shouted)).toEqual(readGood(good))
  })

  it('is left to the guards where it can be stored', () => {
    const odd = { ...good, Title: ' ', Members: [] }
    expect(readGood(odd)).toMatchObject({ title: ' ', members: [] })
    expect(readGood({ ...good, Members: [{ UserId: userId, Role: 'King' }] })).toMatchObject({
      members: [{ userId, role: 'King' }],
    })
  })

  it('has up to 256 characters in its title, whatever their width', () => {
    expect(readGood({ ...good, Title: '🏠'.repeat(256) }).title).toHaveLength(512)
  })
})

describe('a message that can not be read', () => {
  const members = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      UserId: `0b8c1f6e-5a52-4d6a-9a5f-${String(i).padStart(12, '0')}`,
      Role: 'Member',
    }))

  it.each([
    ['text', 'nonsense', 'NOT_JSON'],
    ['half of it', '{"DealId":"', 'NOT_JSON'],
    ['nothing but an opening', '['.repeat(100_000), 'NOT_JSON'],
    ['a list', '[]', 'SHAPE_INVALID: the value must be an object'],
    ['null', 'null', 'SHAPE_INVALID: the value must be an object'],
    [
      'an empty object',
      {},
      'SHAPE_INVALID: DealId is missing; Title is missing; Members is missing',
    ],
    ['another deal id', { ...good, DealId: '42' }, 'SHAPE_INVALID: DealId must be a uuid'],
    [
      'an empty deal id',
      { ...good, DealId: '00000000-0000-0000-0000-000000000000' },
      'SHAPE_INVALID: DealId must not be the empty uuid',
    ],
    ['a number for a title', { ...good, Title: 7 }, 'SHAPE_INVALID: Title must be text'],
    [
      'too long a title',
      { ...good, Title: 'x'.repeat(257) },
      'SHAPE_INVALID: Title has more than 256 characters',
    ],
    [
      'a title with U+0000',
      { ...good, Title: 'a\u0000b' },
      "SHAPE_INVALID: Title holds a character that the database can't keep",
    ],
    [
      'a title with half a pair',
      { ...good, Title: 'a\ud83cb' },
      "SHAPE_INVALID: Title holds a character that the database can't keep",
    ],
    [
      'a member that is none',
      { ...good, Members: [7] },
      'SHAPE_INVALID: Members.0 must be an object',
    ],
    [
      'a role that is too long',
      { ...good, Members: [{ UserId: userId, Role: 'x'.repeat(33) }] },
      'SHAPE_INVALID: Members.0.Role has more than 32 characters',
    ],
    [
      'too many members',
      { ...good, Members: members(1001) },
      'SHAPE_INVALID: Members has more than 1000 entries',
    ],
    [
      'many faults',
      { ...good, Members: [{}, {}] },
      'SHAPE_INVALID: Members.0.UserId is missing; Members.0.Role is missing; Members.1.UserId is missing; and 1 more',
    ],
  ])('%s', (_, value, reason) => {
    expect(read(value)).toEqual({ kind: 'unreadable', reason })
  })

  it.each([
    ['no value', null, 'NO_VALUE'],
    ['other bytes', Buffer.from([0x7b, 0xff, 0x7d]), 'NOT_UTF8'],
    ['an empty value', Buffer.alloc(0), 'NOT_JSON'],
    ['megabytes', Buffer.alloc(1024 * 1024 + 1, 0x20), 'TOO_LARGE: 1048577 bytes'],
  ])('%s', (_, value, reason) => {
    expect(readDealCreated(value)).toEqual({ kind: 'unreadable', reason })
  })

  it('never throws, and never quotes a value in its reason', () => {
    const marked = fc.string().map((text) => `personal ${text}`)
    const near = fc.record(
      {
        DealId: fc.oneof(fc.uuid(), marked),
        Title: fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer()),
        ProjectId: fc.oneof(fc.uuid(), marked, fc.constant(null)),
        Members: fc.oneof(
          fc.array(fc.record({ UserId: fc.oneof(fc.uuid(), marked), Role: marked })),
          marked,
        ),
      },
      { requiredKeys: [] },
    )
    const anything = fc.oneof(
      near.map((value) => Buffer.from(JSON.stringify(value))),
      fc.json().map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
    )
    fc.assert(
      fc.property(anything, (value) => {
        const reading = readDealCreated(value)
        if (reading.kind === 'deal') {
          expect(reading.deal.title.isWellFormed()).toBe(true)
          expect(reading.deal.title).not.toContain('\u0000')
        } else {
          expect(reading.reason).toMatch(/^[A-Z0-9_]+(: .{1,400})?$/)
          expect(reading.reason).not.toContain('personal')
        }
      }),
    )
  })
})
