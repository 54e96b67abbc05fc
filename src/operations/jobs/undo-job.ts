/** `audit.undo.v1`: takes back a re-enqueue of many deals, by the line that closes it. */

import { z } from 'zod'
import type { JobRegistry } from '../../chokaq/index.js'
import { readText } from '../read-input.js'
import { countUndo, undoChange } from '../undo/undo-change.js'
import type { UndoContext } from '../undo/undo-line.js'
import { readLineId } from '../undo/undoable-line.js'
import { classifyOperation, orderOf, readBy } from './job-payloads.js'
import { operationsQueue, showProgress } from './provision-jobs.js'

export const undoJob = 'audit.undo.v1'

/** As many as somebody reads; the counts are of all. */
const refusalsKept = 100

const payload = z.strictObject({
  auditId: readBy(z.string(), readLineId),
  by: readBy(z.string(), (text) => readText('by', text)),
  reason: readBy(z.string(), (text) => readText('reason', text)),
})

export function defineUndoJob(registry: JobRegistry, context: UndoContext): void {
  registry.defineJob(
    undoJob,
    payload,
    async (job) => {
      const { auditId } = job.payload
      const expected = await countUndo(context.db, auditId)
      const result = await undoChange(context, {
        auditId,
        order: orderOf(job.payload, job),
        signal: job.signal,
        onProgress: (lines) => showProgress(job, lines, expected),
      })
      if (result.stopped) job.signal.throwIfAborted()
      const { affected, skipped, refused } = result
      const summary = { affected, skipped, refused: refused.length }
      job.log.info({ event: 'operation done', ...summary }, 'operation done')
      await job.saveCheckpoint({ ...summary, refusals: refused.slice(0, refusalsKept) })
    },
    { queue: operationsQueue, classify: classifyOperation },
  )
}
