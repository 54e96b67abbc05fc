/** What an operator does to one job: cancel, priority, resurrect with other payload, tags or priority. */

import { AppError } from '../../../errors.js'
import {
  cancelJob,
  prioritizeJob,
  resurrectJob,
  type JobEdits,
  type JobEnd,
} from '../../../operations/act-on-jobs.js'
import type { JobDetail } from '../../../operations/list-jobs.js'
import type { Order } from '../../../operations/read-input.js'
import { addAction } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { FieldError, type FieldFault } from '../field-fault.js'
import { longestPayload } from '../form-limit.js'
import { faultMarks, Field, TextField } from '../parts/form.js'
import { Id } from '../parts/text.js'
import { jobIdOf, readJob } from '../read-job.js'
import { one, type Values } from '../values.js'

interface JobAction {
  readonly name: string
  readonly title: string
  readonly effect: string
  readonly isFor: (job: JobDetail) => boolean
  readonly fields?: (values: Values, fault: FieldFault | undefined) => JSX.Element
  readonly fieldNames?: readonly string[]
  /** What the fields hold at first. */
  readonly initial?: (job: JobDetail) => Values
  readonly act: (id: string, order: Order, values: Values) => Promise<JobEnd>
}

export function addJobActions(app: DeckServer, deck: DeckContext): void {
  const context = { db: deck.db, moves: deck.jobs.moves }
  addJobAction(app, deck, {
    name: 'cancel',
    title: 'Cancel',
    effect: 'A job that waits ends at once; one that runs is asked to end, at its next heartbeat.',
    isFor: ({ place }) => place === 'hot',
    act: (id, order) => cancelJob(context, id, order),
  })
  addJobAction(app, deck, {
    name: 'priority',
    title: 'Change priority',
    effect: 'Jobs that wait go by their priority, the highest first.',
    isFor: ({ state }) => state === 'Pending',
    fieldNames: ['priority'],
    fields: (values, fault) => <PriorityField {...{ values, fault }} />,
    initial: ({ priority }) => ({ priority: String(priority) }),
    act: (id, order, values) => prioritizeJob(context, id, order, priorityOf(values)),
  })
  addJobAction(app, deck, {
    name: 'resurrect',
    title: 'Resurrect',
    effect: 'It begins anew, with all its runs; as it was, or as you change it here.',
    isFor: ({ place }) => place === 'dlq',
    fieldNames: ['payload', 'tags', 'priority'],
    fields: (values, fault) => (
      <>
        <PayloadField {...{ values, fault }} />
        <TagsField {...{ values, fault }} />
        <PriorityField {...{ values, fault }} />
      </>
    ),
    initial: (job) => ({
      payload: prettyJson(job.payload),
      tags: job.tags.join(', '),
      priority: String(job.priority),
    }),
    act: async (id, order, values) =>
      resurrectJob(context, id, order, editsOf(await readJob(deck, id), values)),
  })
}

interface Subject {
  readonly id: string
  readonly values: Values
}

function addJobAction(app: DeckServer, deck: DeckContext, action: JobAction): void {
  const { name, title, effect, fields, fieldNames, initial, isFor, act } = action
  addAction<Subject>(app, deck, {
    path: `/jobs/:id/${name}`,
    section: 'jobs',
    ...{ title, effect, ...(fields && { fields }), ...(fieldNames && { fieldNames }) },
    read: (values, request) => ({ id: jobIdOf(request), values }),
    view: async ({ id }) => {
      const job = await readJob(deck, id)
      return {
        preview: () => <Preview job={job} isEdited={fieldNames?.includes('payload') ?? false} />,
        isVoid: !isFor(job),
        ...(initial && { initial: initial(job) }),
      }
    },
    carryOut: async ({ id, values }, order) => {
      const end = await act(id, order, values)
      if (!end.done) throw new AppError('USAGE', `Nothing was done: ${end.why}.`)
      return { tone: 'good', text: `Job ${id}: ${end.note}.` }
    },
    back: ({ id }) => `/deck/jobs/${id}`,
  })
}

function priorityOf(values: Values): number {
  const text = one(values, 'priority') ?? ''
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text)
  throw new FieldError('priority', 'The priority is a whole number from 0 to 100.')
}

/**
 * What differs from the job as it is; a payload that only looks different is left as it was stored.
 *
 * @throws AppError INPUT_INVALID
 */
function editsOf(job: JobDetail, values: Values): JobEdits {
  const payload = one(values, 'payload')
  if (payload === undefined)
    throw new FieldError('payload', 'The payload is empty: it is JSON, {} at the least.')
  const tags = (one(values, 'tags') ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  return {
    payload: payload.replaceAll('\r\n', '\n') === prettyJson(job.payload) ? undefined : payload,
    tags: tags.join() === job.tags.join() ? undefined : tags,
    priority: priorityOf(values),
  }
}

/** With line breaks, unless that would change more than those: numbers that JavaScript can't hold, say. */
function prettyJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text ? JSON.stringify(value, undefined, 2) : text
  } catch {
    return text
  }
}

function Preview(props: {
  readonly job: JobDetail
  /** The form holds its payload, to be changed. */
  readonly isEdited: boolean
}): JSX.Element {
  const { job, isEdited } = props
  return (
    <>
      <p>
        <Id id={job.id} href={`/deck/jobs/${job.id}`} />
        <span safe>{` is ${job.state}: ${job.type}, priority ${job.priority}.`}</span>
      </p>
      {!isEdited && (
        <pre class="payload" tabindex="0" aria-label="Payload" safe>
          {job.payload}
        </pre>
      )}
    </>
  )
}

interface FieldProps {
  readonly values: Values
  readonly fault: FieldFault | undefined
}

function PriorityField({ values, fault }: FieldProps): JSX.Element {
  return (
    <TextField
      name="priority"
      fault={fault}
      label="Priority, 0 to 100"
      value={one(values, 'priority') ?? ''}
      inputmode="numeric"
      required
    />
  )
}

function PayloadField({ values, fault }: FieldProps): JSX.Element {
  const field = { name: 'payload', fault }
  return (
    <Field {...field} label="Payload, JSON">
      <textarea
        class="code"
        name="payload"
        rows="8"
        spellcheck="false"
        maxlength={String(longestPayload)}
        {...faultMarks(field)}
        safe
      >
        {one(values, 'payload') ?? ''}
      </textarea>
    </Field>
  )
}

function TagsField({ values, fault }: FieldProps): JSX.Element {
  return (
    <TextField
      name="tags"
      fault={fault}
      label="Tags, separated by commas"
      value={one(values, 'tags') ?? ''}
    />
  )
}
