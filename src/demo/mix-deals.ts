/** How many deals of which kind: one of each first, then by weight, the same mix at every run. */

import { dealKinds, type DealKind } from './deal-kinds.js'
import type { DemoDeal } from './demo-deal.js'

/** @param count at least 1; below the number of kinds it is the first ones that come */
export function mixDeals(count: number): DemoDeal[] {
  const turn = turnOfTheMix()
  const kinds: DealKind[] = dealKinds.slice(0, count)
  while (kinds.length < count) kinds.push(...turn.slice(0, count - kinds.length))
  const deals = kinds.map((kind, index) => kind.make(index))
  return inOrderOfDue(deals)
}

/** Each kind as often as it weighs, kinds alternating. */
function turnOfTheMix(): DealKind[] {
  const heaviest = Math.max(...dealKinds.map(({ weight }) => weight))
  return Array.from({ length: heaviest }, (_, round) =>
    dealKinds.filter(({ weight }) => weight > round),
  ).flat()
}

/**
 * What is due is due a second after the deal before it, so the worker meets them in this order; the
 * one over which it is killed comes in the middle of its first cycle.
 */
export function inOrderOfDue(deals: readonly DemoDeal[]): DemoDeal[] {
  const isVictim = (deal: DemoDeal): boolean => deal.scene === 'worker is killed'
  const order = deals.filter((deal) => !isVictim(deal))
  order.splice(Math.floor(order.length / 2), 0, ...deals.filter(isVictim))
  return order.map((deal, index) => {
    const { dueInSeconds } = deal.row
    const due = dueInSeconds < 0 ? dueInSeconds - order.length + index : dueInSeconds
    return { ...deal, row: { ...deal.row, dueInSeconds: due } }
  })
}
