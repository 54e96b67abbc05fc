/** One deal of the demo: what it is fed as, and where it must end. */

import type { Member } from '../provisioning/guards.js'
import type { ProvisionStatus } from '../postgres/schema.js'

/** The roles that the demo's worker knows. */
export const knownRoles = ['Owner', 'Member', 'Observer'] as const

/** Runs until a row is poison, in the demo: three show a retry, and end within seconds. */
export const maxAttempts = 3

/** The row as the deal-created consumer, or earlier runs of the worker, would have left it. */
export interface DealRow {
  readonly title: string
  readonly projectId: string | null
  readonly tenantId: string | null
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  readonly chatId: string | null
  /** Seconds from now; negative is long due. */
  readonly dueInSeconds: number
  /** Seconds since the row's last change. */
  readonly ageSeconds: number
}

export interface ExistingChat {
  readonly id: string
  readonly kind: string
  readonly status: string
  readonly tenantId: string | null
  readonly participants: readonly (Member & { readonly left: boolean })[]
  /** Is its DealChatProvisioned feed row there? */
  readonly announced: boolean
}

/** Something that happens to the deal while the worker is at it; src/demo/scenes.ts plays it. */
export type Scene = 'worker is killed' | 'consumer finishes' | 'operator mends'

export interface Expected {
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  /** What crm sees, in order. */
  readonly events: readonly ProvisionStatus[]
  /** The row must be the very version that was fed. */
  readonly untouched: boolean
  /** Of the chat's active participants, sorted; undefined: no chat of the deal may be changed. */
  readonly roles: readonly string[] | undefined
}

export interface DemoDeal {
  readonly id: string
  readonly dealId: string
  /** The line of the result table that it belongs to. */
  readonly kind: string
  readonly row: DealRow
  readonly members: readonly Member[]
  readonly chat: ExistingChat | undefined
  /** Raised by the messenger's tables when its chat is made; `spoils` attempts, or all. */
  readonly fault: { readonly sqlstate: string; readonly spoils?: number } | undefined
  readonly scene: Scene | undefined
  readonly expected: Expected
}
