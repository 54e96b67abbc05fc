/** The job that a page's address names. */

import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { showJob, type JobDetail } from '../../operations/list-jobs.js'
import { readJobs } from '../api/read-only.js'
import { jobParams } from '../api/schemas/inputs.js'
import type { DeckContext } from './context.js'

/** @throws AppError INPUT_INVALID */
export function jobIdOf({ params }: FastifyRequest): string {
  return readJobId((params as { readonly id: string }).id)
}

/** @throws AppError INPUT_INVALID */
export function readJobId(text: string): string {
  const read = jobParams.safeParse({ id: text })
  if (read.success) return read.data.id
  throw new AppError('INPUT_INVALID', read.error.issues[0]?.message ?? 'This is not a job id.')
}

/** @throws AppError NOT_FOUND */
export async function readJob({ db }: DeckContext, id: string): Promise<JobDetail> {
  const job = await readJobs(db, (storage) => showJob(storage, id))
  if (job !== undefined) return job
  throw new AppError(
    'NOT_FOUND',
    `There is no job ${id}. Ended ones are deleted after CHOKAQ_RETENTION.`,
  )
}
