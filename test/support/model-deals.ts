/**
 * The reference model: what must have become of each deal, told as plainly as the specification does.
 * It knows no database, no transaction and no clock; time is what is due and what hangs.
 */

import type { ProvisionStatus } from '../../src/postgres/schema.js'

export interface ModelIntention {
  status: ProvisionStatus
  attempts: number
  lastError: string | null
  /** Is the chat's id in the row? */
  hasChatId: boolean
  /** next_attempt_at has come. */
  due: boolean
  /** updated_at is longer ago than StuckProvisioningAfter. */
  hangs: boolean
  readonly listed: Set<string>
}

export interface ModelChat {
  archived: boolean
  hasFeedRow: boolean
  readonly active: Set<string>
  readonly left: Set<string>
}

export interface ModelDeal {
  readonly dealId: string
  readonly title: string
  /** The members of its deal-created. */
  readonly members: readonly string[]
  intention: ModelIntention | undefined
  chat: ModelChat | undefined
  /** SQLSTATE by which the making of its chat fails. */
  fault: string | undefined
  /** `Status`, and `+chat` where the event names the chat. */
  readonly events: string[]
}

export interface Model {
  readonly deals: readonly ModelDeal[]
  readonly maxAttempts: number
  /** A worker has died in the middle of a cycle, and no cycle has run since. */
  runIsOpen: boolean
  /** Entries of the audit. */
  audited: number
}

export interface CycleCounts {
  provisioned: number
  retried: number
  failed: number
}

const failureClasses: Readonly<Record<string, string>> = {
  '23514': 'constraint:23514',
  '22001': 'data:22001',
  P0001: 'bug:P0001',
  '40P01': 'contention:40P01',
  // A session that ends while the server answers counts as contention.
  '57P01': 'contention:57P01',
}
/** The row's own failures are met more often, for contention takes its time in each attempt. */
export const faults = ['23514', '22001', 'P0001', '23514', '22001', 'P0001', '40P01', '57P01']

/** Why an attempt would fail, or undefined where it would succeed. */
export function obstacle(deal: ModelDeal): string | undefined {
  if (deal.title.trim() === '') return 'guard:TITLE_BLANK'
  if (deal.chat === undefined) return deal.fault && failureClasses[deal.fault]
  return deal.chat.archived ? 'guard:CHAT_NOT_ACTIVE' : undefined
}

export function newIntention(deal: ModelDeal): ModelIntention {
  return {
    status: 'Provisioning',
    attempts: 0,
    lastError: null,
    hasChatId: false,
    due: true,
    hangs: false,
    listed: new Set(deal.members),
  }
}

/** deal-created, for the first time or again. */
export function takeIn(deal: ModelDeal): void {
  if (deal.intention !== undefined) return
  const intention = newIntention(deal)
  deal.intention = intention
  const failure = obstacle(deal)
  if (failure === undefined) becomeReady(deal, intention)
  else Object.assign(intention, { status: 'Failed', lastError: failure })
}

/** One cycle of the job, run to its end. */
export function runCycle(model: Model): CycleCounts {
  const counts = { provisioned: 0, retried: 0, failed: 0 }
  for (const deal of model.deals) {
    const row = deal.intention
    if (row === undefined || row.status === 'Ready') continue
    if (row.status === 'Provisioning' && !row.hangs) continue
    if (row.attempts >= model.maxAttempts) {
      if (row.status === 'Failed') continue
      row.lastError ??= 'crash:WORKER_DIED'
      becomePoison(deal, row)
      counts.failed += 1
    } else if (row.due) {
      counts[attempt(model, deal, row)] += 1
    }
  }
  model.runIsOpen = false
  return counts
}

function attempt(model: Model, deal: ModelDeal, row: ModelIntention): keyof CycleCounts {
  row.attempts += 1
  row.due = false
  row.hangs = false
  const failure = obstacle(deal)
  if (failure === undefined) {
    becomeReady(deal, row)
    return 'provisioned'
  }
  row.lastError = failure
  if (row.attempts < model.maxAttempts) {
    row.status = 'Failed'
    return 'retried'
  }
  becomePoison(deal, row)
  return 'failed'
}

/** A cycle whose process dies over this deal: before its commit, so only what is on record stays. */
export function die(model: Model, deal: ModelDeal): void {
  const isCareful = model.runIsOpen
  model.runIsOpen = true
  const row = deal.intention
  if (row === undefined || !row.due || row.attempts >= model.maxAttempts) return
  const isHanging = row.status === 'Provisioning' && row.hangs
  if (row.status !== 'Failed' && !isHanging) return
  const mayHaveKilled = isHanging && row.attempts > 0
  if (!isCareful && !mayHaveKilled) return
  row.status = 'Provisioning'
  row.attempts += 1
  row.lastError = 'crash:WORKER_DIED'
  row.due = false
  row.hangs = false
}

/** True where it is done, false where it is refused. */
export function requeue(model: Model, deal: ModelDeal): boolean {
  const row = deal.intention
  if (row === undefined || row.status === 'Ready') return false
  if (row.status === 'Failed' && row.attempts >= model.maxAttempts) say(deal, row, 'Provisioning')
  row.attempts = 0
  row.due = true
  model.audited += 1
  return true
}

function becomeReady(deal: ModelDeal, row: ModelIntention): void {
  deal.chat ??= { archived: false, hasFeedRow: true, active: new Set(), left: new Set() }
  deal.chat.hasFeedRow = true
  for (const user of row.listed) {
    deal.chat.left.delete(user)
    deal.chat.active.add(user)
  }
  row.status = 'Ready'
  row.lastError = null
  row.hasChatId = true
  say(deal, row, 'Ready')
}

function becomePoison(deal: ModelDeal, row: ModelIntention): void {
  row.status = 'Failed'
  row.hangs = false
  say(deal, row, 'Failed')
}

function say(deal: ModelDeal, row: ModelIntention, status: ProvisionStatus): void {
  deal.events.push(row.hasChatId ? `${status}+chat` : status)
}
