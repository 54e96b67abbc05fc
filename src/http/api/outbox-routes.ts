/** Events on their way to crm: the list, one event, and what an operator does to one. */

import { AppError } from '../../errors.js'
import { replayEvents, skipEvents } from '../../operations/act-on-events.js'
import { listEvents } from '../../operations/list-events.js'
import { showEvent } from '../../operations/show-event.js'
import { problem } from '../problem-of-error.js'
import type { ApiContext, ApiServer } from './context.js'
import { changeOnce } from './idempotency.js'
import { orderOf } from './order-of.js'
import { readOnly } from './read-only.js'
import { routeSchema } from './route-schema.js'
import { eventResult } from './schemas/action-answers.js'
import { event, eventDetail, page } from './schemas/answers.js'
import { eventParams, orderBody, outboxQuery } from './schemas/inputs.js'

const actions = [
  { name: 'replay', act: replayEvents, summary: 'Give the event all its sends again, from now' },
  { name: 'skip', act: skipEvents, summary: 'Take the event out for good' },
] as const

export function addOutboxRoutes(app: ApiServer, context: ApiContext): void {
  const { db, operator, config } = context
  app.get(
    '/outbox',
    {
      schema: routeSchema({
        id: 'listEvents',
        tag: 'outbox',
        summary: 'The events, newest first',
        querystring: outboxQuery,
        answers: { 200: { about: 'One page.', schema: page(event) } },
      }),
    },
    ({ query }) => readOnly(db, (trx) => listEvents(trx, query)),
  )

  app.get(
    '/outbox/:id',
    {
      schema: routeSchema({
        id: 'showEvent',
        tag: 'outbox',
        summary: 'One event: what it says, its sends, what operators did to it',
        params: eventParams,
        answers: { 200: { about: 'The event.', schema: eventDetail } },
      }),
    },
    async ({ params: { id } }) => {
      const detail = await readOnly(db, (trx) => showEvent(trx, id))
      if (detail !== undefined) return detail
      throw new AppError(
        'NOT_FOUND',
        `There is no event ${id}. Settled ones are deleted after OUTBOX_RETENTION.`,
      )
    },
  )

  for (const { name, act, summary } of actions) {
    app.post(
      `/outbox/:id/${name}`,
      {
        schema: routeSchema({
          id: `${name}Event`,
          tag: 'outbox',
          summary,
          params: eventParams,
          body: orderBody,
          answers: { 200: { about: 'Done.', schema: eventResult } },
        }),
      },
      (request, reply) =>
        changeOnce(db, request, reply, async (requestId) => {
          const eventId = request.params.id
          const { onEventWritten } = operator
          const { refused, auditId } = await act(
            { db, relay: config.outbox.relay, ...(onEventWritten && { onEventWritten }) },
            { targets: { eventIds: [eventId] }, order: orderOf(request, request.body, requestId) },
          )
          const [no] = refused
          if (no === undefined) return { body: { eventId, affected: 1, auditId } }
          const exists = await readOnly(db, (trx) => showEvent(trx, eventId))
          const status = exists === undefined ? 404 : 409
          return { refusal: problem(status, `Event ${eventId}: ${no.why}.`) }
        }),
    )
  }
}
