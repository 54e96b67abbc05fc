/** What the operator's jobs are told: which deals, by whom and why. No titles, no members. */

import { z } from 'zod'
import type { JobContext } from '../../chokaq/index.js'
import { AppError } from '../../errors.js'
import { readProvisionFilter } from '../provision-filter.js'
import type { Targets } from '../provision-command.js'
import { longestReason, readOrder, readText, readUuids, type Order } from '../read-input.js'

/** Refuses, with its own words, what `read` can't read: at the enqueue, before anything is stored. */
export function readBy<T extends z.ZodType>(schema: T, read: (value: z.output<T>) => unknown): T {
  return schema.superRefine((value, context) => {
    try {
      read(value)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
    }
  })
}

const filter = z.strictObject({
  poison: z.boolean().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  tenant: z.string().optional(),
  olderThan: z.string().optional(),
})

/** Either given deals or a filter, in the words of the command line and the API. */
export const provisionOrder = z
  .strictObject({
    dealIds: readBy(z.array(z.string()).min(1), (ids) => readUuids('a deal id', ids)).optional(),
    filter: readBy(filter, readProvisionFilter).optional(),
    by: readBy(z.string(), (text) => readText('by', text)),
    reason: readBy(z.string(), (text) => readText('reason', text)),
    /** As many deals as were confirmed; absent: as many as there are. */
    atMost: z.int().min(1).optional(),
  })
  .refine(({ dealIds, filter: chosen }) => (dealIds === undefined) !== (chosen === undefined), {
    error: 'give dealIds or filter, one of the two',
  })

export type ProvisionOrder = z.output<typeof provisionOrder>

/** @throws AppError INPUT_INVALID */
export function readTargets(order: Pick<ProvisionOrder, 'dealIds' | 'filter'>): Targets {
  if (order.dealIds !== undefined) return { dealIds: readUuids('a deal id', order.dealIds) }
  return { filter: readProvisionFilter(order.filter ?? {}) }
}

/**
 * The reason names the job, so that the audit leads to it, and a further run of the same job, and no
 * other command, goes on where an earlier one ended.
 *
 * @throws AppError INPUT_INVALID
 */
export function orderOf(
  { by, reason }: Pick<ProvisionOrder, 'by' | 'reason'>,
  { id }: Pick<JobContext, 'id'>,
): Order {
  const job = ` (job ${id})`
  const words = readOrder({ by, reason: reason.slice(0, longestReason - job.length) + job })
  return { ...words, isOfOneCommand: true }
}

/** What was asked for in a way that can't be done will not be done by asking again. */
export function classifyOperation(error: unknown): 'fatal' | undefined {
  return error instanceof AppError && !error.retryable ? 'fatal' : undefined
}
