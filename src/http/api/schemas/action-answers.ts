/** What comes of changes, of looks at the whole, and of settings. */

import { z } from 'zod'
import type { Setting } from '../../../config/config.js'
import { discrepancies, type DiscrepancyName } from '../../../operations/discrepancy.js'
import { undoRefusalCodes } from '../../../operations/undo/undoable-line.js'
import { queueSettings, run } from './answers.js'

const count = z.int().min(0)
const refusedDeals = z.array(z.object({ dealId: z.guid(), why: z.string() }))

const auditId = z
  .string()
  .nullable()
  .meta({ description: 'The line of the audit by which it can be taken back.' })

const action = {
  affected: count.meta({ description: 'Changed by this call, or in a dry run would be.' }),
  skipped: count.meta({ description: 'Someone else was quicker.' }),
  refused: refusedDeals,
  dryRun: z.boolean(),
  auditId,
}

export const actionResult = z.object(action).meta({ id: 'ActionResult' })

export const reconcileResult = z
  .object({
    affected: count.meta({ description: 'Deals that were mended.' }),
    examined: count,
    found: count,
    refused: refusedDeals,
    dryRun: z.boolean(),
    findings: z.array(
      z.object({
        dealId: z.guid(),
        finding: z.enum(Object.keys(discrepancies) as [DiscrepancyName, ...DiscrepancyName[]]),
        detail: z.string().nullable(),
        about: z.string(),
        todo: z.string(),
        outcome: z.enum(['found', 'mended', 'settled', 'refused', 'left']),
        why: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'ReconcileResult' })

export const accepted = z
  .object({
    jobId: z.string().meta({ description: 'See `/api/v1/jobs/{id}`.' }),
    matched: count.meta({ description: 'Deals that the filter meant when it was asked for.' }),
  })
  .meta({ id: 'Accepted' })

export const eventResult = z
  .object({ eventId: z.guid(), affected: z.literal(1), auditId })
  .meta({ id: 'EventResult' })

export const jobResult = z
  .object({
    jobId: z.string(),
    affected: z.literal(1),
    note: z.string().meta({ description: 'What was done.' }),
  })
  .meta({ id: 'JobResult' })

export const queueResult = z
  .object({ name: z.string(), ...queueSettings, auditId })
  .meta({ id: 'QueueSettings' })

export const undoResult = z
  .object({
    affected: count.meta({ description: 'Changes that were taken back.' }),
    skipped: count.meta({ description: 'Taken back before.' }),
    refused: z.array(
      z.object({
        auditId: z.string(),
        dealId: z.guid().nullable(),
        code: z.enum(undoRefusalCodes),
        why: z.string(),
      }),
    ),
    auditId: z.string().nullable().meta({ description: "The undo's own line." }),
  })
  .meta({ id: 'UndoResult' })

export const settings = z
  .object({
    items: z.array(
      z.object({
        name: z.string(),
        value: z
          .string()
          .nullable()
          .meta({ description: 'In force; null: unset. A secret is never shown.' }),
        isDefault: z.boolean(),
        isSecret: z.boolean(),
        about: z.string(),
      }),
    ),
  })
  .meta({ id: 'Settings' }) satisfies z.ZodType<{ items: readonly Setting[] }>

const number = z.number().min(0)

export const summary = z
  .object({
    ageSeconds: number.meta({ description: 'How long ago the database was looked at.' }),
    isCurrent: z.boolean().meta({
      description: 'false: the database did not answer; these are the last known values.',
    }),
    provisions: z.object({
      backlog: count.meta({ description: 'Failed and stuck, poison among them.' }),
      failed: count,
      stuck: count.meta({ description: 'In Provisioning for too long.' }),
      poison: count.meta({ description: 'Out of attempts.' }),
      oldestAgeSeconds: number.meta({
        description: 'Of those that still have attempts; 0 where there are none.',
      }),
    }),
    outbox: z.object({
      relay: z.enum(['kafka', 'stdout', 'off']),
      backlog: count.nullable().meta({ description: 'null where Debezium relays.' }),
      publishLagSeconds: number.nullable(),
      parked: count,
      slotLagBytes: number.nullable().meta({ description: 'null where this service relays.' }),
    }),
    intake: z.object({
      parked: count.meta({ description: 'Messages of crm that were set aside.' }),
    }),
    lastRun: run.nullable(),
    jobs: z.object({
      due: count,
      scheduled: count,
      running: count,
      dead: count,
      lagSeconds: number.meta({ description: 'Of the queue that is furthest behind.' }),
      queuesPaused: count,
      succeeded: count.meta({ description: 'Since the beginning, as the next two.' }),
      failed: count,
      retried: count,
    }),
  })
  .meta({ id: 'Summary' })

export type Summary = z.output<typeof summary>
