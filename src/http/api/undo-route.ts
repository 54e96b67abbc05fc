/** Takes back what a line of the audit tells of: one change at once, many by a durable job. */

import { undoJob } from '../../operations/jobs/undo-job.js'
import { enqueueOnce } from '../../operations/once.js'
import { countUndo, undoChange } from '../../operations/undo/undo-change.js'
import { problem } from '../problem-of-error.js'
import { atOnceAtMost } from './bulk-targets.js'
import type { ApiContext, ApiServer } from './context.js'
import { changeOnce, type ChangeEnd } from './idempotency.js'
import { orderOf } from './order-of.js'
import { routeSchema } from './route-schema.js'
import { accepted, undoResult } from './schemas/action-answers.js'
import { auditParams, orderBody } from './schemas/inputs.js'
import { abandoned } from './time-limit.js'

/** Rows may wait for locks; what is left when it passes is done by asking again. */
const timeoutMs = 60_000

export function addUndoRoute(app: ApiServer, { db, operator, config, jobs }: ApiContext): void {
  const context = { ...operator, relay: config.outbox.relay, moves: jobs.moves }
  app.post(
    '/audit/:id/undo',
    {
      config: { timeoutMs },
      schema: routeSchema({
        id: 'undoChange',
        tag: 'records',
        summary:
          'Take a re-enqueue, a skip or a change of a queue back, while nothing has come of it',
        description:
          'By the line that closes a re-enqueue of many deals, all of them are taken back: a few at ' +
          'once, many by a durable job.',
        params: auditParams,
        body: orderBody,
        answers: {
          200: { about: 'Taken back, as far as nothing has come of it.', schema: undoResult },
          202: { about: 'A durable job does it.', schema: accepted },
        },
      }),
    },
    (request, reply) =>
      changeOnce(db, request, reply, async (requestId, keep) => {
        const auditId = request.params.id
        const order = orderOf(request, request.body)
        const matched = await countUndo(db, auditId)
        if (matched > atOnceAtMost) {
          const payload = { auditId, ...order }
          const options = { createdBy: order.by, ...(requestId && { idempotencyKey: requestId }) }
          const made = { db, queue: jobs.queue }
          return enqueueOnce<ChangeEnd>(made, [undoJob, payload, options], keep, (jobId) => ({
            ...{ status: 202, body: { jobId, matched } },
          }))
        }
        const signal = abandoned(request)
        const ofRequest = requestId === undefined ? order : { ...order, requestId }
        const result = await undoChange(context, { auditId, order: ofRequest, signal })
        const { affected, skipped, refused, stopped } = result
        const [no] = refused
        if (affected + skipped > 0 || no === undefined)
          return { body: { affected, skipped, refused, auditId: result.auditId }, stopped }
        const detail = `Line ${no.auditId} stays: ${no.why}.`
        return { refusal: { ...problem(409, detail), code: no.code } }
      }),
  )
}
