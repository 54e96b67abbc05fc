/** What an operator orders for provisions: which deals, by whom and why, and within which limits. */

import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import { describeFilter, type ProvisionFilter } from './provision-filter.js'
import type { Order } from './read-input.js'

export interface OperatorContext {
  readonly db: Kysely<Database>
  /** Of the events. */
  readonly topic: string
  /** What makes a row poison. */
  readonly maxAttempts: number
  /** Called after each commit that wrote an event, so that a relay needn't wait for its poll. */
  readonly onEventWritten?: () => void
}

export type Targets =
  /** As readUuids gives them. */
  { readonly dealIds: readonly string[] } | { readonly filter: ProvisionFilter }

export interface ProvisionCommand {
  readonly targets: Targets
  /** On a dry run it is told what would be done, and nothing is changed. */
  readonly order: Order | 'dry run'
  /** More deals than this are refused as a whole; undefined: as many as there are. */
  readonly atMost?: number | undefined
  /** Deals that somebody has confirmed: not more of them are changed, though more are meant by now. */
  readonly confirmed?: number | undefined
  /** Ends the command after the deal that is under way. */
  readonly signal?: AbortSignal | undefined
  /** Told now and then how many deals were gone through. */
  readonly onProgress?: ((deals: number) => void) | undefined
}

export interface ActionResult {
  /** Deals that were changed by this call, or in a dry run would be. */
  readonly affected: number
  /** Deals that someone else, or an earlier try of the same command, was quicker with. */
  readonly skipped: number
  /** Of the skipped, those that an earlier try of the same command has done. */
  readonly doneBefore: number
  readonly refused: readonly Refusal[]
  /** True where `signal` ended it early; the same command goes on from there. */
  readonly stopped: boolean
  /** The line of the audit by which all of it can be taken back: a single deal's, or the closing one. */
  readonly auditId: string | null
}

export interface Refusal {
  readonly dealId: string
  readonly why: string
}

/** The row that a command acts on. */
export interface ProvisionRow {
  readonly id: string
  readonly dealId: string
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly chatId: string | null
  readonly xmin: string
}

/**
 * How the deals were chosen, as the audit keeps it; null for a single deal. Several given deals have
 * a fingerprint, by which the same command is known again when it was broken off.
 */
export function describeTargets(targets: Targets): string | null {
  if ('filter' in targets) return describeFilter(targets.filter)
  if (targets.dealIds.length <= 1) return null
  const hash = createHash('sha256').update(targets.dealIds.toSorted().join())
  return `${targets.dealIds.length} given deals (${hash.digest('hex').slice(0, 12)})`
}
