/** Which provisions are meant: one filter, one translation to SQL, one text for the audit. */

import { sql, type RawBuilder } from 'kysely'
import { maxDurationMs, parseDuration } from '../config/duration.js'
import { AppError } from '../errors.js'
import type { ProvisionStatus } from '../postgres/schema.js'
import { quoted, readUuid } from './read-input.js'

/** All that is set must hold; with nothing set, every provision is meant. */
export interface ProvisionFilter {
  /** Only rows that are Failed and out of attempts. */
  readonly poison?: boolean | undefined
  readonly status?: ProvisionStatus | undefined
  /** `last_error` begins so: `guard:`, `guard:TITLE_BLANK`, `data`. */
  readonly errorPrefix?: string | undefined
  readonly tenantId?: string | undefined
  /** Made at least so long ago. */
  readonly olderThanMs?: number | undefined
}

/** As it comes from a command line or a request, by the names that both use. */
export interface ProvisionFilterInput {
  readonly poison?: boolean | undefined
  readonly status?: string | undefined
  readonly error?: string | undefined
  readonly tenant?: string | undefined
  /** A duration: `90s`, `15m`, `2h`, `3d`. */
  readonly olderThan?: string | undefined
}

const statuses = ['Provisioning', 'Ready', 'Failed'] as const satisfies readonly ProvisionStatus[]

/** As wide as the column. */
const errorPrefixAtMost = 512

/** @throws AppError INPUT_INVALID with what is allowed */
export function readProvisionFilter(input: ProvisionFilterInput): ProvisionFilter {
  const filter: ProvisionFilter = {
    poison: input.poison,
    status: input.status === undefined ? undefined : readStatus(input.status),
    errorPrefix: input.error === undefined ? undefined : readErrorPrefix(input.error),
    tenantId: input.tenant === undefined ? undefined : readUuid('a tenant id', input.tenant),
    olderThanMs: input.olderThan === undefined ? undefined : readAge(input.olderThan),
  }
  if (filter.poison === true && filter.status !== undefined && filter.status !== 'Failed') {
    throw invalid(`Poison rows are Failed, so status ${filter.status} leaves none of them.`)
  }
  return filter
}

function readStatus(text: string): ProvisionStatus {
  const status = statuses.find((name) => name.toLowerCase() === text.toLowerCase())
  if (status !== undefined) return status
  throw invalid(`Not a status: ${quoted(text)}. It is one of ${statuses.join(', ')}.`)
}

function readErrorPrefix(text: string): string {
  if (/^[\x20-\x7e]+$/.test(text) && text.length <= errorPrefixAtMost) return text
  throw invalid('An error is named by how it begins, such as guard: or data:22001, in plain ASCII.')
}

function readAge(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms > 0 && ms <= maxDurationMs) return ms
  throw invalid(`Not an age: ${quoted(text)}. It is a duration such as 90s, 15m, 2h or 3d.`)
}

function invalid(message: string): AppError {
  return new AppError('INPUT_INVALID', message)
}

export function isEmptyFilter(filter: ProvisionFilter): boolean {
  return describeFilter(filter) === everything
}

/** The predicate over `messenger.deal_chat_provisions p`. */
export function matches(filter: ProvisionFilter, maxAttempts: number): RawBuilder<boolean> {
  const { poison, status, errorPrefix, tenantId, olderThanMs } = filter
  const conditions = [sql`true`]
  if (poison === true) conditions.push(isPoison(maxAttempts))
  if (status !== undefined) conditions.push(sql`p.status = ${status}`)
  if (errorPrefix !== undefined) conditions.push(sql`starts_with(p.last_error, ${errorPrefix})`)
  if (tenantId !== undefined) conditions.push(sql`p.deal_tenant_id = ${tenantId}::uuid`)
  if (olderThanMs !== undefined) {
    conditions.push(sql`p.created_at
      <= statement_timestamp() - ${olderThanMs}::float8 * interval '1 millisecond'`)
  }
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/** Out of attempts, and left alone until someone re-enqueues it. */
export function isPoison(maxAttempts: number): RawBuilder<boolean> {
  return sql<boolean>`(p.status = 'Failed' and p.attempts >= ${maxAttempts}::int)`
}

const everything = 'all'

/** The same filter always gives the same text. */
export function describeFilter(filter: ProvisionFilter): string {
  const { poison, status, errorPrefix, tenantId, olderThanMs } = filter
  const parts: string[] = []
  if (poison === true) parts.push('poison')
  if (status !== undefined) parts.push(`status=${status}`)
  if (errorPrefix !== undefined) parts.push(`error=${quoteWhereNeeded(errorPrefix)}`)
  if (tenantId !== undefined) parts.push(`tenant=${tenantId}`)
  if (olderThanMs !== undefined) parts.push(`older-than=${durationText(olderThanMs)}`)
  return parts.length === 0 ? everything : parts.join(' ')
}

function quoteWhereNeeded(text: string): string {
  return /^[\w:.-]+$/.test(text) ? text : JSON.stringify(text)
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

function durationText(ms: number): string {
  const unit = units.find(([, unitMs]) => ms % unitMs === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`
}
