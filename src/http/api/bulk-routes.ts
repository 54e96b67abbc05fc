/**
 * The operator's three actions on provisions: given deals are done at once, in the request; what a
 * filter means becomes a durable job, for it may be many, and outlives the request and this process.
 */

import type { FastifyRequest } from 'fastify'
import { enqueueOnce, type Keep } from '../../operations/once.js'
import type { OperatorContext, Targets } from '../../operations/provision-command.js'
import { reconcileProvisions, type Finding } from '../../operations/reconcile-provisions.js'
import { countReemit, reemitProvisions } from '../../operations/reemit-provisions.js'
import { countRequeue, requeueProvisions } from '../../operations/requeue-provisions.js'
import { refuseTooMany, targetsOf } from './bulk-targets.js'
import type { ApiContext, ApiServer } from './context.js'
import { changeOnce, type ChangeEnd } from './idempotency.js'
import { orderOf } from './order-of.js'
import { routeSchema } from './route-schema.js'
import { accepted, actionResult, reconcileResult } from './schemas/action-answers.js'
import { bulkBody, reconcileBody, type BulkBody } from './schemas/inputs.js'
import { abandoned } from './time-limit.js'

/** Rows may wait for locks; what is left when it passes is done by asking again. */
const timeoutMs = 60_000
/** So that too many deals are refused by their number, and not for the size of the list. */
const bodyLimitBytes = 1024 * 1024

const limits = { config: { timeoutMs }, bodyLimit: bodyLimitBytes }
const byJob = { about: 'A durable job does it.', schema: accepted }

const actions = [
  {
    name: 'requeue',
    summary: 'Give deals all their attempts again, from now',
    count: countRequeue,
    run: requeueProvisions,
  },
  {
    name: 'reemit',
    summary: 'Tell crm once more how deals stand',
    count: countReemit,
    run: reemitProvisions,
  },
] as const

export function addBulkRoutes(app: ApiServer, context: ApiContext): void {
  for (const action of actions) addActionRoute(app, context, action)
  addReconcileRoute(app, context)
}

function addActionRoute(
  app: ApiServer,
  context: ApiContext,
  { name, summary, count, run }: (typeof actions)[number],
): void {
  app.post(
    `/provisions/${name}`,
    {
      ...limits,
      schema: routeSchema({
        id: `${name}Provisions`,
        tag: 'provisions',
        summary,
        description: 'Given deals are done at once, those of a filter by a durable job.',
        body: bulkBody,
        answers: { 200: { about: 'Done, or foreseen.', schema: actionResult }, 202: byJob },
      }),
    },
    (request, reply) =>
      changeOnce(context.db, request, reply, async (requestId, keep) => {
        const { body } = request
        const signal = abandoned(request)
        const targets = targetsOf(body)
        if ('filter' in targets && !body.dryRun) {
          return enqueue(context, { request, requestId, keep, body, targets, name, count })
        }
        const order = body.dryRun ? 'dry run' : orderOf(request, body, requestId)
        const result = await run(context.operator, { targets, order, signal })
        const { affected, skipped, refused, stopped, auditId } = result
        return { body: { affected, skipped, refused, auditId, dryRun: body.dryRun }, stopped }
      }),
  )
}

function addReconcileRoute(app: ApiServer, context: ApiContext): void {
  app.post(
    '/provisions/reconcile',
    {
      ...limits,
      schema: routeSchema({
        id: 'reconcileProvisions',
        tag: 'provisions',
        summary: 'Hold deals against their chats and against what crm was told, and mend them',
        description:
          'Given deals are done at once. For a filter a durable job does it, the report of a dry ' +
          'run too; what it found is in the checkpoint of the job.',
        body: reconcileBody,
        answers: { 200: { about: 'What was found.', schema: reconcileResult }, 202: byJob },
      }),
    },
    (request, reply) =>
      changeOnce(context.db, request, reply, async (requestId, keep) => {
        const { body } = request
        const signal = abandoned(request)
        const targets = targetsOf(body)
        const mend = body.mend && !body.dryRun
        if ('filter' in targets) {
          // Whom a report is for, and why, nobody need say.
          const reason = body.reason ?? (mend ? undefined : 'a look')
          return enqueue(context, {
            ...{ request, requestId, keep, body: { ...body, reason }, targets },
            ...{ name: 'reconcile', count: countReemit, extra: { mend } },
          })
        }
        const findings: Finding[] = []
        const result = await reconcileProvisions(
          context.operator,
          { targets, signal, mend: mend ? orderOf(request, body, requestId) : undefined },
          (finding) => findings.push(finding),
        )
        const { affected, examined, found, refused, stopped } = result
        return { body: { affected, examined, found, refused, dryRun: !mend, findings }, stopped }
      }),
  )
}

interface FilterOrder {
  readonly request: FastifyRequest
  readonly requestId: string | undefined
  readonly keep: Keep<ChangeEnd>
  readonly body: Pick<BulkBody, 'by' | 'reason' | 'filter'>
  readonly targets: Targets
  readonly name: 'requeue' | 'reemit' | 'reconcile'
  readonly count: (context: OperatorContext, targets: Targets) => Promise<number>
  readonly extra?: object
}

async function enqueue(
  { db, operator, jobs }: ApiContext,
  { request, requestId, keep, body, targets, name, count, extra }: FilterOrder,
): Promise<ChangeEnd> {
  const order = orderOf(request, body)
  const matched = await count(operator, targets)
  refuseTooMany(matched)
  const payload = { filter: body.filter, ...order, ...extra }
  const options = { createdBy: order.by, ...(requestId && { idempotencyKey: requestId }) }
  const job = [`provision.${name}.v1`, payload, options] as const
  return enqueueOnce({ db, queue: jobs.queue }, [...job], keep, (jobId) => ({
    ...{ status: 202, body: { jobId, matched } },
  }))
}
