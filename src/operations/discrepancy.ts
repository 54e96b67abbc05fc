/**
 * What can disagree between a provision, the messenger's tables and what crm was told, and how each
 * such finding is mended. Pure: from one deal's facts to its findings.
 */

import type { ProvisionStatus } from '../postgres/schema.js'
import { rejectChat } from '../provisioning/guards.js'

/** How a finding is mended: by the job's own code paths, or by nobody here. */
type Remedy = 'complete' | 'requeue' | 'reemit' | 'person'

export const discrepancies = {
  READY_WITHOUT_CHAT: {
    remedy: 'complete',
    about: 'Ready, but the deal has no chat',
    todo: '--mend makes the chat and says Ready',
  },
  CHAT_DIFFERS: {
    remedy: 'complete',
    about: 'Ready with another chat than the deal has',
    todo: "--mend takes the deal's chat and says Ready",
  },
  CHAT_UNFIT: {
    remedy: 'person',
    about: 'Ready, but the chat in its place is not a chat of this deal',
    todo: 'ask the messenger team whose chat it is; show DEAL_ID names it',
  },
  FEED_ROW_MISSING: {
    remedy: 'complete',
    about: "the chat's feed does not tell that it was made",
    todo: '--mend writes the feed row',
  },
  MEMBERS_MISSING: {
    remedy: 'complete',
    about: 'listed members never became participants',
    todo: '--mend adds them, and takes back listed members who left',
  },
  CHAT_BUT_NOT_READY: {
    remedy: 'requeue',
    about: 'the deal has a chat, but its provision is not Ready',
    todo: '--mend makes it due now, and the next cycle finishes it',
  },
  READY_EVENT_MISSING: {
    remedy: 'reemit',
    about: 'Ready, but the last word to crm is another',
    todo: '--mend tells crm',
  },
  FAILED_EVENT_MISSING: {
    remedy: 'reemit',
    about: 'out of attempts, but the last word to crm is not Failed',
    todo: '--mend tells crm',
  },
} as const satisfies Record<string, { remedy: Remedy; about: string; todo: string }>

export type DiscrepancyName = keyof typeof discrepancies

/** What was found to look at, in one statement for each deal. */
export interface DealFacts {
  readonly id: string
  readonly dealId: string
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly tenantId: string | null
  /** Has all its attempts, and is due: the next cycle takes it. */
  readonly isDueAfresh: boolean
  /** As the provision says. */
  readonly chatId: string | null
  /** As the messenger says: the chat with this deal's id. */
  readonly chat: {
    readonly id: string
    readonly kind: string
    readonly status: string
    readonly dealTenantId: string | null
    readonly hasFeedRow: boolean
    /** Listed members without a participant row, and with one that has left. */
    readonly membersMissing: number
    readonly membersLeft: number
  } | null
  readonly members: number
  /** Changed so lately that its events can't have been deleted yet. */
  readonly isRecent: boolean
  /** The newest event of the deal that was not skipped. */
  readonly lastWord: { readonly status: string | null; readonly chatId: string | null } | null
}

export interface Discrepancy {
  readonly name: DiscrepancyName
  /** Numbers and codes, no personal data; null where the name says it all. */
  readonly detail: string | null
}

/** In the order in which they are mended. */
export function discrepanciesOf(facts: DealFacts, maxAttempts: number): Discrepancy[] {
  const ofChat = facts.status === 'Ready' ? ofReadyChat(facts) : ofChatBeforeReady(facts)
  return [...ofChat, ...ofLastWord(facts, maxAttempts)]
}

function ofReadyChat(facts: DealFacts): Discrepancy[] {
  const { chat } = facts
  if (chat === null) return [{ name: 'READY_WITHOUT_CHAT', detail: null }]
  const code = rejectChat(chat, facts.tenantId)
  // That a chat was archived after it was Ready is its life, and no discrepancy.
  if (code !== undefined && code !== 'CHAT_NOT_ACTIVE')
    return [{ name: 'CHAT_UNFIT', detail: code }]
  const found: Discrepancy[] = []
  if (chat.id !== facts.chatId) found.push({ name: 'CHAT_DIFFERS', detail: null })
  return [...found, ...ofContents(facts, chat)]
}

function ofChatBeforeReady(facts: DealFacts): Discrepancy[] {
  const { chat } = facts
  if (chat === null) return []
  const code = rejectChat(chat, facts.tenantId)
  const detail = code === undefined ? null : `guard:${code}`
  const found: Discrepancy[] = [{ name: 'CHAT_BUT_NOT_READY', detail }]
  return code === undefined ? [...found, ...ofContents(facts, chat)] : found
}

function ofContents(facts: DealFacts, chat: NonNullable<DealFacts['chat']>): Discrepancy[] {
  const found: Discrepancy[] = []
  if (!chat.hasFeedRow) found.push({ name: 'FEED_ROW_MISSING', detail: null })
  if (chat.membersMissing > 0) {
    const left = chat.membersLeft === 0 ? '' : `, ${chat.membersLeft} left`
    const detail = `${chat.membersMissing} of ${facts.members}${left}`
    found.push({ name: 'MEMBERS_MISSING', detail })
  }
  return found
}

function ofLastWord(facts: DealFacts, maxAttempts: number): Discrepancy[] {
  if (!facts.isRecent) return []
  const said = facts.lastWord?.status ?? 'nothing'
  if (facts.status === 'Ready') {
    if (said !== 'Ready') return [{ name: 'READY_EVENT_MISSING', detail: `crm heard ${said}` }]
    if (facts.lastWord?.chatId?.toLowerCase() === facts.chatId) return []
    return [{ name: 'READY_EVENT_MISSING', detail: 'crm heard of another chat' }]
  }
  if (facts.status !== 'Failed' || facts.attempts < maxAttempts || said === 'Failed') return []
  return [{ name: 'FAILED_EVENT_MISSING', detail: `crm heard ${said}` }]
}
