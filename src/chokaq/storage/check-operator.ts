/** Refuses what an operator can't mean, before anything is changed. */

import { checkActor, checkPayload, checkPriority, checkTags } from '../jobs/check-job.js'
import { limits } from '../jobs/limits.js'
import { storableText } from '../jobs/storable-text.js'
import type { JobEdits } from './operator-port.js'

/** The request as it is stored. @throws ChokaqError ACTOR_INVALID */
export function checkCancel(request: { readonly by: string; readonly reason: string }) {
  checkActor(request.by)
  return { by: request.by, reason: storableText(request.reason, limits.reasonLength) }
}

/** @throws ChokaqError */
export function checkResurrect(request: {
  readonly by: string
  readonly edits?: JobEdits | undefined
}): void {
  checkActor(request.by)
  const { payload, tags, priority } = request.edits ?? {}
  if (payload !== undefined) checkPayload(payload)
  if (tags !== undefined) checkTags(tags)
  if (priority !== undefined) checkPriority(priority)
}

/** @throws ChokaqError ACTOR_INVALID, PRIORITY_OUT_OF_RANGE */
export function checkPriorityChange(request: {
  readonly by: string
  readonly priority: number
}): void {
  checkActor(request.by)
  checkPriority(request.priority)
}
