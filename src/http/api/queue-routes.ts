/** The queues of durable jobs: what waits and runs in each, and their limits. */

import type { QueueStatus } from '../../chokaq/index.js'
import { AppError } from '../../errors.js'
import { changeQueue, refuseUnknownQueue } from '../../operations/act-on-jobs.js'
import { listKnownQueues } from '../../operations/known-queues.js'
import type { ApiContext, ApiServer } from './context.js'
import { changeOnce } from './idempotency.js'
import { orderOf } from './order-of.js'
import { readJobs } from './read-only.js'
import { routeSchema } from './route-schema.js'
import { queueResult } from './schemas/action-answers.js'
import { page, queue } from './schemas/answers.js'
import { queueBody, queueParams } from './schemas/inputs.js'

export function addQueueRoutes(app: ApiServer, context: ApiContext): void {
  const { db, jobs } = context
  app.get(
    '/queues',
    {
      schema: routeSchema({
        id: 'listQueues',
        tag: 'jobs',
        summary: 'The queues, by name',
        answers: { 200: { about: 'All of them.', schema: page(queue) } },
      }),
    },
    async () => {
      const queues = await readQueues(context)
      return { items: queues.map(toItem), nextCursor: null }
    },
  )

  app.patch(
    '/queues/:name',
    {
      schema: routeSchema({
        id: 'changeQueue',
        tag: 'jobs',
        summary: 'Pause a queue, or change its limits',
        params: queueParams,
        body: queueBody,
        answers: { 200: { about: 'The settings as they are now.', schema: queueResult } },
      }),
    },
    (request, reply) =>
      changeOnce(db, request, reply, async (requestId) => {
        const { name } = request.params
        const { by, reason, ...changes } = request.body
        if (Object.values(changes).every((value) => value === undefined)) {
          throw new AppError(
            'INPUT_INVALID',
            'Say what to change: paused, maxWorkers, zombieTimeoutMs or timeoutMs.',
          )
        }
        const order = orderOf(request, { by, reason }, requestId)
        refuseUnknownQueue(name, await readQueues(context))
        const moves = { db, moves: jobs.moves }
        const { auditId, ...settings } = await changeQueue(moves, name, changes, order)
        return { body: { name, ...toLimits(settings), auditId } }
      }),
  )
}

function readQueues({ db, config }: ApiContext): Promise<QueueStatus[]> {
  return readJobs(db, (storage) => listKnownQueues(storage, config.chokaq))
}

function toItem({ settings, ...status }: QueueStatus) {
  return { ...status, ...toLimits(settings) }
}

function toLimits({ paused, maxWorkers, zombieTimeoutMs, timeoutMs }: QueueStatus['settings']) {
  return {
    paused,
    maxWorkers: maxWorkers ?? null,
    zombieTimeoutMs: zombieTimeoutMs ?? null,
    timeoutMs: timeoutMs ?? null,
  }
}
