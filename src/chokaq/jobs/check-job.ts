/** Refuses what breaks a limit, before anything is stored, with a code and what is allowed instead. */

import { ChokaqError, type ChokaqErrorCode } from '../errors.js'
import { jsonDepth } from './json-depth.js'
import { limits } from './limits.js'
import type { NewJob } from './job.js'

/** As CHOKAQ_QUEUES allows them; type keys likewise. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** @throws ChokaqError */
export function checkNewJob(job: NewJob): void {
  checkTypeKey(job.type)
  checkQueueName(job.queue)
  checkPayload(job.payload)
  if (job.priority !== undefined) checkPriority(job.priority)
  if (job.tags !== undefined) checkTags(job.tags)
  if (job.createdBy !== undefined) checkActor(job.createdBy)
  if (job.idempotencyKey !== undefined) {
    const what = 'An idempotency key'
    checkText('IDEMPOTENCY_KEY_INVALID', what, job.idempotencyKey, limits.idempotencyKeyLength)
  }
  if (job.delayMs !== undefined) checkDelay(job.delayMs)
}

/** @throws ChokaqError TYPE_INVALID */
export function checkTypeKey(typeKey: string): void {
  checkName('TYPE_INVALID', 'A job type', typeKey, limits.typeLength)
}

/** @throws ChokaqError */
export function checkQueueName(name: string): void {
  checkName('QUEUE_INVALID', 'A queue name', name, limits.queueLength)
}

/** @throws ChokaqError PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE, or the code given */
export function checkPayload(payload: string, code: ChokaqErrorCode = 'PAYLOAD_NOT_JSON'): void {
  const bytes = Buffer.byteLength(payload, 'utf8')
  if (bytes > limits.payloadBytes) {
    throw new ChokaqError(
      code === 'PAYLOAD_NOT_JSON' ? 'PAYLOAD_TOO_LARGE' : code,
      `The JSON has ${bytes} bytes; at most ${limits.payloadBytes} are stored with a job. ` +
        'Store the data elsewhere and put a reference to it here.',
    )
  }
  try {
    JSON.parse(payload)
  } catch (cause) {
    throw new ChokaqError(code, `This is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (!payload.isWellFormed()) {
    throw new ChokaqError(code, 'The JSON holds half a surrogate pair; write it as \\uXXXX.')
  }
  if (jsonDepth(payload) > limits.payloadDepth) {
    throw new ChokaqError(
      code,
      `The JSON has arrays or objects more than ${limits.payloadDepth} deep within each other.`,
    )
  }
}

/** @throws ChokaqError */
export function checkPriority(priority: number): void {
  const { min, max } = limits.priority
  if (Number.isInteger(priority) && priority >= min && priority <= max) return
  throw new ChokaqError(
    'PRIORITY_OUT_OF_RANGE',
    `A priority is a whole number from ${min} to ${max}, higher first; not ${priority}.`,
  )
}

/** @throws ChokaqError */
export function checkDelay(delayMs: number): void {
  if (delayMs >= 0 && delayMs <= limits.delayMs) return
  throw new ChokaqError(
    'DELAY_INVALID',
    `A delay is 0 to ${limits.delayMs} milliseconds (ten years); not ${delayMs}.`,
  )
}

/** @throws ChokaqError */
export function checkTags(tags: readonly string[]): void {
  if (tags.length > limits.tags) {
    throw new ChokaqError('TAGS_INVALID', `A job has at most ${limits.tags} tags.`)
  }
  for (const tag of tags) checkText('TAGS_INVALID', 'A tag', tag, limits.tagLength)
}

/** @throws ChokaqError */
export function checkActor(actor: string): void {
  checkText('ACTOR_INVALID', 'The name of who does this', actor, limits.actorLength)
}

function checkName(code: ChokaqErrorCode, what: string, name: string, length: number): void {
  if (name.length <= length && plainName.test(name)) return
  throw new ChokaqError(
    code,
    `${what} has 1 to ${length} letters, digits, ".", "_" and "-", and begins with a letter or digit.`,
  )
}

function checkText(code: ChokaqErrorCode, what: string, text: string, length: number): void {
  const storable = text.isWellFormed() && !text.includes('\0')
  if (storable && text.length > 0 && text.length <= length) return
  throw new ChokaqError(
    code,
    `${what} has 1 to ${length} characters, without U+0000 and halves of surrogate pairs.`,
  )
}
