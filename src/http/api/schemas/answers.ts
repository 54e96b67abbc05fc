/** What the API answers. The document is made of these, and the tests hold each answer to them. */

import { z } from 'zod'
import { failureReasons, jobStates } from '../../../chokaq/index.js'
import type { AuditLine } from '../../../operations/audit-trail.js'
import type { EventLine } from '../../../operations/list-events.js'
import type { ProvisionLine } from '../../../operations/list-provisions.js'
import type { RunLine } from '../../../operations/list-runs.js'
import { undoRefusalCodes } from '../../../operations/undo/undoable-line.js'
import type { EventDetail } from '../../../operations/show-event.js'

const time = z.string().meta({
  description: 'RFC 3339 in UTC; `infinity` or `-infinity` where the row says so.',
  examples: ['2026-01-02T03:04:05.678Z'],
})
const uuid = z.guid()
const count = z.int().min(0)
const status = z.enum(['Provisioning', 'Ready', 'Failed'])
const eventState = z.enum(['pending', 'parked', 'published', 'superseded', 'skipped'])

export function page<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'Where the next page begins; null: this one is the last.' }),
  })
}

export const problem = z
  .object({
    type: z.string(),
    status: z.int(),
    title: z.string(),
    detail: z.string().meta({ description: 'One line that helps.' }),
    code: z
      .enum(undoRefusalCodes)
      .optional()
      .meta({ description: 'Why a change can not be taken back.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' })

const provisionFields = {
  dealId: uuid,
  status,
  attempts: z.int(),
  lastError: z.string().nullable().meta({ description: '`class:code` of the last failure.' }),
  tenantId: uuid.nullable(),
  nextAttemptAt: time,
  createdAt: time,
  updatedAt: time,
}

export const provision = z
  .object(provisionFields)
  .meta({ id: 'Provision' }) satisfies z.ZodType<ProvisionLine>

const auditOfOne = { at: time, actor: z.string(), action: z.string(), reason: z.string() }

export const provisionDetail = z
  .object({
    ...provisionFields,
    chatId: uuid.nullable(),
    members: count,
    chats: z.array(z.object({ id: uuid, kind: z.string(), status: z.string() })),
    activeParticipants: count,
    feedRows: count,
    failedAttempts: z
      .array(
        z.object({
          attempt: count.meta({
            description: 'As the row counted it: from 1, again after each re-enqueue.',
          }),
          failedAt: time,
          error: z.string().meta({ description: '`class:code`, as lastError.' }),
          durationMs: count.nullable(),
          nextAttemptAt: time,
          runId: uuid.nullable(),
        }),
      )
      .meta({ description: 'The latest that were kept, oldest first.' }),
    events: z.array(
      z.object({
        id: uuid,
        seq: z.string(),
        status: z.string().nullable(),
        state: eventState,
        occurredAt: time,
        publishedAt: time.nullable(),
      }),
    ),
    audit: z.array(z.object({ ...auditOfOne, filter: z.string().nullable() })),
  })
  .meta({ id: 'ProvisionDetail' })

const eventFields = {
  id: uuid,
  seq: z.string().meta({ description: '`ce_sequence`: rises per deal.' }),
  dealId: uuid,
  status: z.string().nullable(),
  state: eventState,
  attempts: z.int(),
  lastError: z.string().nullable(),
  occurredAt: time,
  nextAttemptAt: time,
  publishedAt: time.nullable(),
}

export const event = z.object(eventFields).meta({ id: 'Event' }) satisfies z.ZodType<EventLine>

export const eventDetail = z
  .object({
    ...eventFields,
    topic: z.string(),
    type: z.string(),
    contractVersion: z.int(),
    payload: z.string().meta({ description: 'The JSON text, byte for byte what Kafka gets.' }),
    correlationId: uuid.nullable(),
    traceparent: z.string().nullable(),
    supersededAt: time.nullable(),
    skippedAt: time.nullable(),
    parkedAt: time.nullable(),
    audit: z.array(z.object(auditOfOne)),
  })
  .meta({ id: 'EventDetail' }) satisfies z.ZodType<EventDetail>

const jobFields = {
  id: z.string(),
  type: z.string(),
  queue: z.string(),
  place: z.enum(['hot', 'archive', 'dlq']),
  state: z.enum(jobStates),
  priority: z.int(),
  attempts: z.int(),
  progress: z.number().nullable().meta({ description: '0 to 100, where the job has told.' }),
  tags: z.array(z.string()),
  createdBy: z.string().nullable(),
  createdAt: time,
  dueAt: time.nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  durationMs: z.number().nullable(),
  reason: z.enum(failureReasons).nullable().meta({ description: 'Why it is dead.' }),
  lastError: z.string().nullable(),
}

export const job = z.object(jobFields).meta({ id: 'Job' })

export const jobDetail = z
  .object({
    ...jobFields,
    payload: z.string().meta({ description: 'JSON text.' }),
    checkpoint: z
      .string()
      .nullable()
      .meta({ description: 'JSON text: how far it is, and in the end what came of it.' }),
    idempotencyKey: z.string().nullable(),
    owner: z.string().nullable(),
    modifiedBy: z.string().nullable(),
    cancelRequestedBy: z.string().nullable(),
    details: z.string().nullable().meta({ description: 'The failure in full.' }),
  })
  .meta({ id: 'JobDetail' })

export const queueSettings = {
  paused: z.boolean(),
  maxWorkers: z.int().nullable(),
  zombieTimeoutMs: z.number().nullable(),
  timeoutMs: z.number().nullable(),
}

export const queue = z
  .object({
    name: z.string(),
    due: count,
    scheduled: count,
    fetched: count,
    processing: count,
    dead: count,
    lagSeconds: z.number(),
    ...queueSettings,
  })
  .meta({ id: 'Queue' })

export const run = z
  .object({
    id: uuid.meta({ description: 'The jobRunId of logs, spans and events.' }),
    startedAt: time,
    finishedAt: time.nullable(),
    outcome: z.enum(['completed', 'aborted', 'stopped']).nullable(),
    reason: z.string().nullable(),
    asOf: time,
    claimed: z.int(),
    provisioned: z.int(),
    retried: z.int(),
    failed: z.int().meta({ description: 'Rows that became poison.' }),
    skipped: z.int(),
    host: z.string(),
    durationMs: z.number().nullable(),
  })
  .meta({ id: 'Run' }) satisfies z.ZodType<RunLine>

export const auditLine = z
  .object({
    id: z.string(),
    at: time,
    actor: z.string(),
    action: z.string(),
    dealId: uuid.nullable(),
    filter: z.string().nullable(),
    reason: z.string(),
    affected: z.int(),
    undoes: z.string().nullable().meta({ description: 'The line that this one takes back.' }),
    undoneBy: z.string().nullable().meta({ description: 'The line that takes this one back.' }),
    canBeUndone: z.boolean().meta({
      description: 'It keeps what an undo takes; whether something has come of it, the undo sees.',
    }),
  })
  .meta({ id: 'AuditLine' }) satisfies z.ZodType<AuditLine>
