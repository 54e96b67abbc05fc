/** The demo's check: what is in place passes, and each way of not being in place is found and named. */

import { describe, expect, it } from 'vitest'
import { checkDeals } from '../../../src/demo/check-deals.js'
import type { SeenEvent } from '../../../src/demo/crm-reader.js'
import { dealKinds } from '../../../src/demo/deal-kinds.js'
import type { DemoDeal } from '../../../src/demo/demo-deal.js'
import type { DealLook } from '../../../src/demo/look-at-deals.js'
import { mixDeals } from '../../../src/demo/mix-deals.js'
import { misplacedDeals, resultTable } from '../../../src/demo/result-table.js'

/** What a look would show of a deal that ended just as it must. */
function inPlace({ dealId, row, chat, expected }: DemoDeal): DealLook {
  const isNew = expected.roles !== undefined
  const chatId = isNew ? (chat?.id ?? `chat of ${dealId}`) : row.chatId
  const active = chat?.participants.filter(({ left }) => !left) ?? []
  return {
    dealId,
    chatId,
    version: expected.untouched ? '1' : '2',
    status: expected.status,
    attempts: expected.attempts,
    lastError: expected.lastError,
    chatIds: chatId === null ? (chat ? [chat.id] : []) : [chatId],
    roles: expected.roles ?? active.map(({ role }) => role).sort(),
    feedRows: isNew || chat?.announced === true ? 1 : 0,
    events: expected.events,
  }
}

function seenInPlace(look: DealLook): SeenEvent[] {
  return look.events.map((status, index) => ({
    status,
    sequence: BigInt(index),
    chatId: look.chatId,
  }))
}

/** The faults of one deal whose end is in place but for `changes`. */
function faultsOf(deal: DemoDeal, changes: Partial<DealLook>, seen?: SeenEvent[]): string[] {
  const good = inPlace(deal)
  const [checked] = checkDeals(
    [deal],
    new Map([[deal.dealId, { ...good, version: '1' }]]),
    new Map([[deal.dealId, { ...good, ...changes }]]),
    () => seen ?? seenInPlace(good),
  )
  return [...(checked?.faults ?? ['not checked'])]
}

function ofKind(name: string): DemoDeal {
  const kind = dealKinds.find((each) => each.name === name)
  if (kind === undefined) throw new Error(`no kind ${name}`)
  return kind.make(0)
}

it.each(dealKinds.map((kind) => [kind.name, kind] as const))(
  '"%s" in place has no faults',
  (_, kind) => {
    expect(faultsOf(kind.make(0), {})).toEqual([])
  },
)

describe('found and named', () => {
  const ready = ofKind('no chat was made')
  const spent = ofKind('title is blank')
  const alone = ofKind('already Ready')

  it.each([
    ['status', ready, { status: 'Failed' }, 'status is Failed, should be Ready'],
    ['attempts', ready, { attempts: 2 }, 'attempts is 2, should be 1'],
    [
      'error',
      spent,
      { lastError: 'bug:P0001' },
      'last_error is bug:P0001, should be guard:TITLE_BLANK',
    ],
    ['a second chat', ready, { chatIds: ['a', 'b'] }, /^chats is a, b, should be /],
    ['a chat that should not be', spent, { chatIds: ['a'] }, 'chats is a, should be nothing'],
    [
      'a missing member',
      ready,
      { roles: ['Member', 'Owner'] },
      'participants is Member, Owner, should be Member, Observer, Owner',
    ],
    ['no feed row', ready, { feedRows: 0 }, 'feed rows is 0, should be 1'],
    ['a row that was touched', alone, { version: '2' }, /should be left alone/],
    [
      'an event too many in the outbox',
      ready,
      { events: ['Ready', 'Ready'] },
      'outbox is Ready, Ready, should be Ready',
    ],
  ] as const)('%s', (_, deal, changes, fault) => {
    const faults = faultsOf(deal, changes)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(fault)
  })

  it('an event that crm did not see, saw too often, or with another chat', () => {
    expect(faultsOf(ready, {}, [])).toEqual(['crm saw is nothing, should be Ready'])
    const [seen] = seenInPlace(inPlace(ready))
    if (seen === undefined) throw new Error('a Ready deal has an event')
    expect(faultsOf(ready, {}, [seen, seen])).toEqual(['crm saw is Ready, Ready, should be Ready'])
    expect(faultsOf(ready, {}, [{ ...seen, chatId: 'another' }])).toEqual([
      expect.stringContaining("crm's ChatId is another"),
    ])
  })

  it('a row that is gone', () => {
    const [checked] = checkDeals([ready], new Map(), new Map(), () => [])
    expect(checked?.faults).toEqual(['its row is gone'])
  })
})

describe('the table', () => {
  const deals = mixDeals(60)

  function checkWith(wrong: DemoDeal | undefined): ReturnType<typeof checkDeals> {
    const looks = new Map(deals.map((deal) => [deal.dealId, inPlace(deal)]))
    const before = new Map([...looks].map(([id, look]) => [id, { ...look, version: '1' }]))
    const seen = new Map([...looks].map(([id, look]) => [id, seenInPlace(look)]))
    if (wrong !== undefined) looks.set(wrong.dealId, { ...inPlace(wrong), attempts: 9 })
    return checkDeals(deals, before, looks, (id) => seen.get(id) ?? [])
  }

  it('has a line for each kind, says ok, and fits 100 columns', () => {
    const table = resultTable(checkWith(undefined))
    expect(table).toHaveLength(dealKinds.length + 2)
    expect(table.slice(2).every((line) => line.endsWith(' ok'))).toBe(true)
    expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(misplacedDeals(checkWith(undefined))).toEqual([])
  })

  it('tells the one deal that is not in place', () => {
    const wrong = deals.find(({ kind }) => kind === 'no chat was made')
    const checked = checkWith(wrong)
    const lines = resultTable(checked)
      .slice(2)
      .filter((line) => !line.endsWith(' ok'))
    expect(lines).toEqual([expect.stringMatching(/^no chat was made .* mixed .* 1 NOT$/)])
    expect(misplacedDeals(checked)).toEqual([
      `${wrong?.dealId ?? ''} (no chat was made): attempts is 9, should be 1`,
    ])
  })
})
