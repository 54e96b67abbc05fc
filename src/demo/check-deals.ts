/** Is each deal where it should be, in the database and for crm? Pure. */

import type { SeenEvent } from './crm-reader.js'
import type { DemoDeal } from './demo-deal.js'
import type { DealLook, Looks } from './look-at-deals.js'

export interface CheckedDeal {
  readonly deal: DemoDeal
  readonly look: DealLook | undefined
  readonly seen: readonly SeenEvent[]
  /** Empty where all is well. */
  readonly faults: readonly string[]
}

/**
 * @param before the look right after feeding, to tell rows that were touched
 * @param seenOf what crm saw of a deal, in order
 */
export function checkDeals(
  deals: readonly DemoDeal[],
  before: Looks,
  now: Looks,
  seenOf: (dealId: string) => readonly SeenEvent[],
): CheckedDeal[] {
  return deals.map((deal) => {
    const look = now.get(deal.dealId)
    const seen = seenOf(deal.dealId)
    const faults = look
      ? [
          ...rowFaults(deal, look, before),
          ...chatFaults(deal, look),
          ...eventFaults(deal, look, seen),
        ]
      : ['its row is gone']
    return { deal, look, seen, faults }
  })
}

function rowFaults({ dealId, expected }: DemoDeal, look: DealLook, before: Looks): string[] {
  const touched = look.version !== before.get(dealId)?.version
  return [
    ...differs('status', look.status, expected.status),
    ...differs('attempts', look.attempts, expected.attempts),
    ...differs('last_error', look.lastError, expected.lastError),
    ...(expected.untouched && touched ? ['its row was written, and should be left alone'] : []),
  ]
}

function chatFaults({ chat, expected }: DemoDeal, look: DealLook): string[] {
  if (expected.roles === undefined) {
    const active = chat?.participants.filter(({ left }) => !left) ?? []
    return [
      ...differs('chats', list(look.chatIds), list(chat ? [chat.id] : [])),
      ...differs('participants', list(look.roles), list(active.map(({ role }) => role).sort())),
      ...differs('feed rows', look.feedRows, chat?.announced === true ? 1 : 0),
    ]
  }
  return [
    ...(look.chatId === null ? ['it has no chat'] : []),
    ...differs('chats', list(look.chatIds), list([chat?.id ?? look.chatId ?? 'one'])),
    ...differs('participants', list(look.roles), list(expected.roles)),
    ...differs('feed rows', look.feedRows, 1),
  ]
}

function eventFaults({ expected }: DemoDeal, look: DealLook, seen: readonly SeenEvent[]): string[] {
  const last = seen.at(-1)
  return [
    ...differs('outbox', list(look.events), list(expected.events)),
    ...differs('crm saw', list(seen.map(({ status }) => status)), list(expected.events)),
    ...(last ? differs("crm's ChatId", last.chatId, look.chatId) : []),
  ]
}

type Shown = string | number | null

function differs(what: string, is: Shown, shouldBe: Shown): string[] {
  return is === shouldBe ? [] : [`${what} is ${String(is)}, should be ${String(shouldBe)}`]
}

function list(values: readonly string[]): string {
  return values.length === 0 ? 'nothing' : values.join(', ')
}
