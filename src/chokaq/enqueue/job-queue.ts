/**
 * Puts jobs in: checked whole before anything is stored, in one round trip however many they are, and
 * in the caller's transaction where one is given.
 */

import { ChokaqError } from '../errors.js'
import type { NewJob } from '../jobs/job.js'
import type { CoreEvents, CoreMetrics } from '../ports.js'
import type { JobRegistry } from '../registry/job-registry.js'
import { readPayload, type CheckedPayload, type PayloadSchema } from '../registry/payload-schema.js'
import type { Enqueued, EnqueuePort } from '../storage/enqueue-port.js'

export interface EnqueueOptions {
  /** The definition's, or `default`, where nothing is said. */
  readonly queue?: string | undefined
  /** 0 to 100, higher first. */
  readonly priority?: number | undefined
  /** Milliseconds, ≥ 0, until it may be fetched. */
  readonly delayMs?: number | undefined
  /** At most one live job has it: while there is one, its id is returned and nothing is stored. */
  readonly idempotencyKey?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly createdBy?: string | undefined
}

/** A definition, so that the payload's type is checked; or a key, where only that is known. */
export type JobKind<Input> =
  { readonly typeKey: string; readonly schema: PayloadSchema<Input, unknown> } | string

export interface EnqueueItem<Input = unknown> {
  readonly job: JobKind<Input>
  /** Must survive JSON: it is checked as it comes back from there. */
  readonly payload: Input
  readonly options?: EnqueueOptions | undefined
}

export interface JobQueue<Trx = never> {
  /**
   * With `trx` the job exists when and only when that transaction commits; call `wake` then, or the
   * worker finds it at its next poll.
   *
   * @throws ChokaqError with nothing stored: TYPE_UNKNOWN, PAYLOAD_INVALID, PAYLOAD_TOO_LARGE,
   *   PRIORITY_OUT_OF_RANGE, DELAY_INVALID, TAGS_INVALID, QUEUE_INVALID, IDEMPOTENCY_KEY_INVALID,
   *   ACTOR_INVALID, STORAGE_FULL
   */
  enqueue<Input>(
    job: JobKind<Input>,
    payload: Input,
    options?: EnqueueOptions,
    trx?: Trx,
  ): Promise<Enqueued>

  /** All or none, answers in the order given. @throws as `enqueue` */
  enqueueMany<Input>(items: readonly EnqueueItem<Input>[], trx?: Trx): Promise<readonly Enqueued[]>

  /** Tells the worker of this process that there may be something new. */
  wake(): void
}

export interface JobQueueDependencies<Trx> {
  readonly storage: EnqueuePort<Trx>
  readonly registry: JobRegistry
  readonly metrics: CoreMetrics
  readonly events: CoreEvents
  /** Of the worker in this process, if there is one. */
  readonly wake: () => void
}

/** More than this in one call are told as one event. */
const namedEvents = 100

export function createJobQueue<Trx = never>(deps: JobQueueDependencies<Trx>): JobQueue<Trx> {
  const { storage, registry, metrics, events, wake } = deps

  const enqueueMany: JobQueue<Trx>['enqueueMany'] = async (items, trx) => {
    if (items.length === 0) return []
    const jobs = await settled(items.map((item) => toNewJob(registry, item)))
    const answers = await storage.enqueue(jobs, trx)
    const created = jobs.flatMap((job, n) => {
      const answer = answers[n]
      return answer?.created === true ? [{ job, id: answer.id }] : []
    })
    // One that the caller rolls back is counted too: of its end nothing is heard here.
    for (const { job } of created) metrics.enqueued(job)
    // Not yet visible, and perhaps never, while the caller's transaction is open.
    if (trx !== undefined || created.length === 0) return answers
    if (created.length > namedEvents) events.emit({ kind: 'jobs' })
    else {
      for (const { job, id } of created) {
        events.emit({ kind: 'job', id, queue: job.queue, state: 'Pending' })
      }
    }
    if (created.some(({ job }) => (job.delayMs ?? 0) === 0)) wake()
    return answers
  }

  return {
    enqueueMany,
    async enqueue(job, payload, options, trx) {
      const [answer] = await enqueueMany([{ job, payload, options }], trx)
      if (answer === undefined) throw new Error('the storage gave no answer for a job')
      return answer
    },
    wake,
  }
}

/** At once where no schema needs time, as a rule none does. */
function settled<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<readonly T[]> {
  const isKnown = (value: T | Promise<T>): value is T => !(value instanceof Promise)
  return values.every(isKnown) ? values : Promise.all(values)
}

function toNewJob(registry: JobRegistry, item: EnqueueItem): NewJob | Promise<NewJob> {
  const typeKey = typeof item.job === 'string' ? item.job : item.job.typeKey
  const definition = registry.find(typeKey)
  if (definition === undefined) {
    const known = registry.definitions().map((other) => other.typeKey)
    throw new ChokaqError(
      'TYPE_UNKNOWN',
      `No job type ${JSON.stringify(typeKey)} is defined. Known: ${known.join(', ') || 'none'}.`,
    )
  }
  const payload = toJson(typeKey, item.payload)
  const { queue, priority, ...rest } = item.options ?? {}
  const job = {
    ...rest,
    type: typeKey,
    payload,
    queue: queue ?? definition.options.queue ?? 'default',
    priority: priority ?? definition.options.priority,
  }
  const checked = readPayload(definition.schema, payload)
  return checked instanceof Promise
    ? checked.then((known) => ifItFits(job, known))
    : ifItFits(job, checked)
}

function ifItFits(job: NewJob, checked: CheckedPayload<unknown>): NewJob {
  if (checked.ok) return job
  throw new ChokaqError(
    'PAYLOAD_INVALID',
    `The payload does not fit ${job.type}, nothing was enqueued:\n${checked.why}`,
  )
}

function toJson(typeKey: string, payload: unknown): string {
  let why = 'JSON has nothing for it (undefined, a function, a symbol)'
  try {
    const text = JSON.stringify(payload) as string | undefined
    if (text !== undefined) return text
  } catch (error) {
    why = (error as Error).message
  }
  throw new ChokaqError(
    'PAYLOAD_INVALID',
    `The payload of ${typeKey} can't be written as JSON: ${why}`,
  )
}
