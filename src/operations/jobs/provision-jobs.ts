/**
 * The operator's work on many provisions as durable jobs. Each deal is done and put on record in one
 * short transaction, so a job that was broken off, by a crash too, goes on with what is left.
 */

import { z } from 'zod'
import type { JobContext, JobRegistry } from '../../chokaq/index.js'
import type { ReconcileContext } from '../mend-deal.js'
import type { AuditedAction } from '../audit-trail.js'
import { countChanged } from '../broken-off.js'
import { describeTargets } from '../provision-command.js'
import type { ActionResult, ProvisionCommand, Targets } from '../provision-command.js'
import { reconcileProvisions } from '../reconcile-provisions.js'
import { countReemit, reemitProvisions } from '../reemit-provisions.js'
import { countRequeue, requeueProvisions } from '../requeue-provisions.js'
import { classifyOperation, orderOf, provisionOrder, readTargets } from './job-payloads.js'
import type { ProvisionOrder } from './job-payloads.js'

/** A queue of its own, so that its limit and its pause are the operator's long work only. */
export const operationsQueue = 'operations'

/** Only a broken-off command is run again; each run goes on where the last one ended. */
const jobOptions = { queue: operationsQueue, classify: classifyOperation }

/** As many findings as somebody reads; the counts are of all. */
const findingsKept = 100

export function defineProvisionJobs(registry: JobRegistry, context: ReconcileContext): void {
  registry.defineJob(
    'provision.requeue.v1',
    provisionOrder,
    (job) =>
      act(
        { job, context, action: 'requeue' },
        (targets) => countRequeue(context, targets),
        (command) => requeueProvisions(context, command),
      ),
    jobOptions,
  )
  registry.defineJob(
    'provision.reemit.v1',
    provisionOrder,
    (job) =>
      act(
        { job, context, action: 'reemit' },
        (targets) => countReemit(context, targets),
        (command) => reemitProvisions(context, command),
      ),
    jobOptions,
  )
  registry.defineJob(
    'provision.reconcile.v1',
    provisionOrder.safeExtend({ mend: z.boolean().default(false) }),
    (job) => reconcile(job, context),
    jobOptions,
  )
}

interface ProvisionWork {
  readonly job: JobContext<ProvisionOrder>
  readonly context: ReconcileContext
  readonly action: AuditedAction
}

async function act(
  { job, context, action }: ProvisionWork,
  count: (targets: Targets) => Promise<number>,
  run: (command: ProvisionCommand) => Promise<ActionResult>,
): Promise<void> {
  const targets = readTargets(job.payload)
  const order = orderOf(job.payload, job)
  const expected = await count(targets)
  const onProgress = (deals: number): void => showProgress(job, deals, expected)
  const confirmed = job.payload.atMost
  const result = await run({ targets, order, confirmed, signal: job.signal, onProgress })
  if (result.stopped) job.signal.throwIfAborted()
  const { refused } = result
  const affected = await changedInAll({ job, context, action })
  const skipped = result.skipped - result.doneBefore
  const summary = { affected, skipped, refused: refused.length, ...leftOut(expected, confirmed) }
  job.log.info({ event: 'operation done', ...summary }, 'operation done')
  await job.saveCheckpoint({ ...summary, refusals: refused.slice(0, findingsKept) })
}

async function reconcile(
  job: JobContext<ProvisionOrder & { readonly mend: boolean }>,
  context: ReconcileContext,
): Promise<void> {
  const targets = readTargets(job.payload)
  const order = orderOf(job.payload, job)
  const expected = await countReemit(context, targets)
  const confirmed = job.payload.atMost
  const findings: { dealId: string; finding: string; outcome: string }[] = []
  const result = await reconcileProvisions(
    context,
    {
      targets,
      confirmed,
      mend: job.payload.mend ? order : undefined,
      signal: job.signal,
      onProgress: (deals) => showProgress(job, deals, expected),
    },
    ({ dealId, finding, outcome }) => {
      if (findings.length < findingsKept) findings.push({ dealId, finding, outcome })
    },
  )
  if (result.stopped) job.signal.throwIfAborted()
  const { examined, found, refused } = result
  const affected = await changedInAll({ job, context, action: 'reconcile' })
  const counts = { examined, found, affected, refused: refused.length }
  const summary = { ...counts, ...leftOut(expected, confirmed) }
  job.log.info({ event: 'operation done', ...summary }, 'operation done')
  await job.saveCheckpoint({ ...summary, findings })
}

/** Deals that had come to be meant after somebody confirmed a number of them. */
function leftOut(expected: number, confirmed: number | undefined): { readonly leftOut?: number } {
  return confirmed !== undefined && expected > confirmed ? { leftOut: expected - confirmed } : {}
}

/** Deals, by all runs of the job: what it leaves says what became of the order, not of the last run. */
function changedInAll({ job, context, action }: ProvisionWork): Promise<number> {
  const order = orderOf(job.payload, job)
  const entry = { action, order, filter: describeTargets(readTargets(job.payload)) }
  return countChanged(context.db, entry, '0')
}

/** Every hundredth deal: more often nobody sees. */
export function showProgress(job: JobContext, deals: number, expected: number): void {
  if (deals % 100 === 0 && expected > 0) job.progress((100 * deals) / expected)
}
