/** Durable jobs: the list, one job, and what an operator does to one. */

import { AppError } from '../../errors.js'
import {
  cancelJob,
  prioritizeJob,
  resurrectJob,
  type JobEnd,
} from '../../operations/act-on-jobs.js'
import { listJobs, showJob } from '../../operations/list-jobs.js'
import { problem } from '../problem-of-error.js'
import type { ApiContext, ApiServer } from './context.js'
import { changeOnce, type ChangeEnd } from './idempotency.js'
import { orderOf } from './order-of.js'
import { readJobs } from './read-only.js'
import { routeSchema } from './route-schema.js'
import { jobResult } from './schemas/action-answers.js'
import { job, jobDetail, page } from './schemas/answers.js'
import { jobParams, jobsQuery, orderBody, priorityBody, resurrectBody } from './schemas/inputs.js'

/** A payload may have 256 KiB, and JSON within JSON needs some more. */
const resurrectBytes = 1024 * 1024

const answers = { 200: { about: 'Done, or asked for.', schema: jobResult } }

export function addJobRoutes(app: ApiServer, context: ApiContext): void {
  addReads(app, context)
  const jobs = { db: context.db, moves: context.jobs.moves }

  app.post(
    '/jobs/:id/cancel',
    {
      schema: routeSchema({
        ...{ id: 'cancelJob', tag: 'jobs', params: jobParams, body: orderBody, answers },
        summary: 'End a job that waits, or ask one that runs to end',
      }),
    },
    (request, reply) =>
      changeOnce(context.db, request, reply, async (requestId) => {
        const { id } = request.params
        return endOf(
          context,
          id,
          await cancelJob(jobs, id, orderOf(request, request.body, requestId)),
        )
      }),
  )

  app.post(
    '/jobs/:id/resurrect',
    {
      bodyLimit: resurrectBytes,
      schema: routeSchema({
        ...{ id: 'resurrectJob', tag: 'jobs', params: jobParams, body: resurrectBody, answers },
        summary: 'A dead job begins anew, with all its attempts',
      }),
    },
    (request, reply) =>
      changeOnce(context.db, request, reply, async (requestId) => {
        const { id } = request.params
        const { payload, tags, priority } = request.body
        const edits = { payload: payload && JSON.stringify(payload), tags, priority }
        const order = orderOf(request, request.body, requestId)
        return endOf(context, id, await resurrectJob(jobs, id, order, edits))
      }),
  )

  app.post(
    '/jobs/:id/priority',
    {
      schema: routeSchema({
        ...{ id: 'prioritizeJob', tag: 'jobs', params: jobParams, body: priorityBody, answers },
        summary: 'Let a job that waits go sooner or later',
      }),
    },
    (request, reply) =>
      changeOnce(context.db, request, reply, async (requestId) => {
        const { id } = request.params
        const order = orderOf(request, request.body, requestId)
        return endOf(context, id, await prioritizeJob(jobs, id, order, request.body.priority))
      }),
  )
}

function addReads(app: ApiServer, { db }: ApiContext): void {
  app.get(
    '/jobs',
    {
      schema: routeSchema({
        id: 'listJobs',
        tag: 'jobs',
        summary: 'The jobs of one place: live ones newest first, ended ones latest first',
        querystring: jobsQuery,
        answers: { 200: { about: 'One page.', schema: page(job) } },
      }),
    },
    ({ query }) => readJobs(db, (storage) => listJobs(storage, query)),
  )

  app.get(
    '/jobs/:id',
    {
      schema: routeSchema({
        id: 'showJob',
        tag: 'jobs',
        summary: 'One job: payload, runs, failure in full',
        params: jobParams,
        answers: { 200: { about: 'The job.', schema: jobDetail } },
      }),
    },
    async ({ params: { id } }) => {
      const detail = await readJobs(db, (storage) => showJob(storage, id))
      if (detail !== undefined) return detail
      throw unknownJob(id)
    },
  )
}

async function endOf({ db }: ApiContext, jobId: string, end: JobEnd): Promise<ChangeEnd> {
  if (end.done) return { body: { jobId, affected: 1, note: end.note } }
  const exists = await readJobs(db, (storage) => storage.findJob(jobId))
  if (exists === undefined) throw unknownJob(jobId)
  const detail = `Job ${jobId} is ${exists.state}: ${end.why}.`
  return { refusal: problem(409, detail) }
}

function unknownJob(id: string): AppError {
  return new AppError(
    'NOT_FOUND',
    `There is no job ${id}. Ended ones are deleted after CHOKAQ_RETENTION.`,
  )
}
