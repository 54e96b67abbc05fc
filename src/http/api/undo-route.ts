/** Takes back what a line of the audit tells of: one change at once, many by a durable job. */

import { undoJob } from '../../operations/jobs/undo-job.js'
import { countUndo, undoChange } from '../../operations/undo/undo-change.js'
import { problem } from '../problem-of-error.js'
import { sendProblem } from '../problem.js'
import { atOnceAtMost } from './bulk-targets.js'
import type { ApiContext, ApiServer } from './context.js'
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
    async (request, reply) => {
      const auditId = request.params.id
      const order = orderOf(request, request.body)
      const matched = await countUndo(db, auditId)
      if (matched > atOnceAtMost) {
        const payload = { auditId, ...order }
        const { id } = await jobs.queue.enqueue(undoJob, payload, { createdBy: order.by })
        return reply.code(202).send({ jobId: id, matched })
      }
      const signal = abandoned(request)
      const result = await undoChange(context, { auditId, order, signal })
      const { affected, skipped, refused } = result
      const [no] = refused
      if (affected + skipped > 0 || no === undefined)
        return reply.send({ affected, skipped, refused, auditId: result.auditId })
      const detail = `Line ${no.auditId} stays: ${no.why}.`
      return sendProblem(reply, { ...problem(409, detail), code: no.code })
    },
  )
}
