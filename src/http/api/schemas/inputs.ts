/** What requests may hold. These schemas validate, and the OpenAPI document is made of them. */

import { z } from 'zod'
import { jobStates } from '../../../chokaq/index.js'
import { seriesWindows } from '../../../operations/throughput-series.js'

/** As much of what was sent as somebody wants to read. */
function shown(input: unknown): string {
  return (JSON.stringify(input) as string | undefined)?.slice(0, 80) ?? 'nothing'
}

const uuid = (what: string) =>
  z
    .guid({
      error: ({ input }) =>
        `not ${what}: ${shown(input)}. It looks like 0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00`,
    })
    .toLowerCase()

const dealId = uuid('a deal id')

export const dealParams = z.strictObject({ dealId })
export const eventParams = z.strictObject({ id: uuid('an event id') })

/** A ULID, in Crockford's letters. */
export const jobParams = z.strictObject({
  id: z
    .string()
    .regex(/^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/, {
      error: ({ input }) =>
        `not a job id: ${shown(input)}. It looks like 01J9Z3K4M5N6P7Q8R9S0T1V2W3`,
    })
    .toUpperCase(),
})

export const queueParams = z.strictObject({ name: z.string().min(1).max(64) })

/** Of a line of the audit. */
export const auditParams = z.strictObject({
  id: z.string().regex(/^\d{1,18}$/, {
    error: ({ input }) => `not a line of the audit: ${shown(input)}. It is a number`,
  }),
})

/** A page longer than this is nobody's to read. */
const pageAtMost = 500

const page = {
  limit: z.coerce
    .number({ error: `it is a whole number from 1 to ${pageAtMost}` })
    .int()
    .min(1)
    .max(pageAtMost)
    .default(100)
    .meta({ description: 'Rows at the most.' }),
  cursor: z
    .string()
    .max(200, { error: 'not one that a list gave. Begin without a cursor' })
    .optional()
    .meta({ description: '`nextCursor` of the page before; absent for the first one.' }),
}

export const seriesQuery = z.strictObject({
  window: z
    .enum(seriesWindows)
    .default('1h')
    .meta({ description: 'How far back; longer ones have wider buckets.' }),
})

export const pageQuery = z.strictObject(page)

const filterFields = {
  status: z
    .string()
    .max(20)
    .optional()
    .meta({ description: 'Provisioning, Ready or Failed.', examples: ['Failed'] }),
  error: z
    .string()
    .max(512)
    .optional()
    .meta({ description: 'The last error begins so.', examples: ['guard:', 'data:22001'] }),
  tenant: z.string().max(36).optional().meta({ description: "The developer's id." }),
  olderThan: z
    .string()
    .max(20)
    .optional()
    .meta({ description: 'Made longer ago than this duration.', examples: ['15m', '2h', '3d'] }),
}

export const provisionsQuery = z.strictObject({
  ...page,
  poison: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'Only those that are out of attempts.' }),
  ...filterFields,
})

export const outboxQuery = z.strictObject({
  ...page,
  state: z
    .enum(['pending', 'parked', 'published', 'superseded', 'skipped'])
    .optional()
    .meta({ description: 'What has become of the event.' }),
  dealId: dealId.optional(),
})

export const jobsQuery = z.strictObject({
  ...page,
  place: z.enum(['hot', 'archive', 'dlq']).optional().meta({
    description:
      'hot: live; archive: succeeded; dlq: dead letters. Absent: where jobs of the state are, else hot.',
  }),
  state: z.enum(jobStates).optional(),
  queue: z.string().max(64).optional(),
  type: z
    .string()
    .max(128)
    .optional()
    .meta({ examples: ['provision.requeue.v1'] }),
})

export const auditQuery = z.strictObject({
  ...page,
  dealId: dealId.optional(),
  actor: z
    .string()
    .max(100)
    .regex(/\S/, { error: 'it is the name of who acted' })
    .optional()
    .meta({ description: 'By whom.' }),
  action: z
    .string()
    .max(40)
    .optional()
    .meta({ examples: ['requeue'] }),
})

/** Something to read, without control characters but for white space; read-input.ts refuses the rest. */
const readable =
  // eslint-disable-next-line no-control-regex
  /^[^\x00-\x08\x0e-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0][^\x00-\x08\x0e-\x1f\x7f-\x9f]*$/

const text = (longest: number, error: string) =>
  z.string({ error }).min(1, { error }).max(longest, { error }).regex(readable, { error })

/** Who orders a change and why, as the audit keeps it. */
const order = {
  by: text(100, 'it says who does it, in 1 to 100 characters; the audit keeps it')
    .optional()
    .meta({
      description:
        'Who does it, kept in the audit. Absent: `api:admin`, or `api:local` where no tokens are set.',
      examples: ['anna'],
    }),
  reason: text(1_000, 'say why, in 1 to 1000 characters; the audit keeps it').meta({
    description: 'Why, kept in the audit.',
    examples: ['the cause was mended'],
  }),
}

export const orderBody = z.strictObject(order)

const filter = z.strictObject({
  poison: z.boolean().optional().meta({ description: 'Only those that are out of attempts.' }),
  ...filterFields,
})

const targets = {
  dealIds: z
    .array(dealId)
    .min(1)
    .optional()
    .meta({ description: 'These deals, at once. Either this or filter.' }),
  filter: filter
    .optional()
    .meta({ description: 'All deals that match, as a durable job. It names at least one thing.' }),
  dryRun: z
    .boolean()
    .default(false)
    .meta({ description: 'Only say what would be done. A dry run needs no reason.' }),
}

const bulk = { ...targets, by: order.by, reason: order.reason.optional() }

/** What one would send; fuzzers begin with it. */
const bulkExamples = [
  { dealIds: ['0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00'], reason: 'the cause was mended', by: 'anna' },
  { filter: { poison: true, error: 'guard:' }, reason: 'the guard was mended', by: 'anna' },
]

export const bulkBody = z.strictObject(bulk).meta({ examples: bulkExamples })
export type BulkBody = z.output<typeof bulkBody>

export const reconcileBody = z.strictObject({
  ...bulk,
  mend: z.boolean().default(true).meta({ description: 'false: only report, as a dry run does.' }),
})

export const priorityBody = z.strictObject({
  ...order,
  priority: z.int().min(0).max(100).meta({ description: 'Higher first.' }),
})

export const resurrectBody = z.strictObject({
  ...order,
  payload: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Another payload, as the job type wants it.' }),
  tags: z.array(z.string().min(1).max(64)).max(16).optional().meta({ description: 'Other tags.' }),
  priority: z.int().min(0).max(100).optional(),
})

const timeout = z.int().min(1).max(315_360_000_000).nullable().optional()

export const queueBody = z.strictObject({
  ...order,
  paused: z.boolean().optional().meta({ description: 'true: no more jobs are begun.' }),
  maxWorkers: z
    .int()
    .min(1)
    .max(10_000)
    .nullable()
    .optional()
    .meta({ description: 'Jobs at once among all instances; null: no limit.' }),
  zombieTimeoutMs: timeout.meta({
    description: 'A job silent for so long is dead; null: the default.',
  }),
  timeoutMs: timeout.meta({ description: 'Longest run; null: the default.' }),
})
