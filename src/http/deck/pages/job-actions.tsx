/** What an operator does to one job: cancel, priority, resurrect with another payload. */

import { AppError } from '../../../errors.js'
import {
  cancelJob,
  prioritizeJob,
  resurrectJob,
  type JobEnd,
} from '../../../operations/act-on-jobs.js'
import type { JobDetail } from '../../../operations/list-jobs.js'
import type { Order } from '../../../operations/read-input.js'
import { addAction } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { longestPayload } from '../form-limit.js'
import { Id, Line } from '../parts/text.js'
import { jobIdOf, readJob } from '../read-job.js'
import { one, type Values } from '../values.js'

interface JobAction {
  readonly name: string
  readonly title: string
  readonly effect: string
  readonly isFor: (job: JobDetail) => boolean
  readonly fields?: (values: Values) => JSX.Element
  readonly fieldNames?: readonly string[]
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
    fields: (values) => <PriorityField value={one(values, 'priority') ?? ''} />,
    act: (id, order, values) => prioritizeJob(context, id, order, priorityOf(values)),
  })
  addJobAction(app, deck, {
    name: 'resurrect',
    title: 'Resurrect',
    effect: 'It begins anew, with all its runs; with another payload where one is given.',
    isFor: ({ place }) => place === 'dlq',
    fieldNames: ['payload'],
    fields: (values) => <PayloadField value={one(values, 'payload') ?? ''} />,
    act: (id, order, values) =>
      resurrectJob(context, id, order, { payload: one(values, 'payload') }),
  })
}

interface Subject {
  readonly id: string
  readonly values: Values
}

function addJobAction(app: DeckServer, deck: DeckContext, action: JobAction): void {
  const { name, title, effect, fields, fieldNames, isFor, act } = action
  addAction<Subject>(app, deck, {
    path: `/jobs/:id/${name}`,
    section: 'jobs',
    ...{ title, effect, ...(fields && { fields }), ...(fieldNames && { fieldNames }) },
    read: (values, request) => ({ id: jobIdOf(request), values }),
    view: async ({ id }) => {
      const job = await readJob(deck, id)
      return { preview: () => <Preview job={job} />, isVoid: !isFor(job) }
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
  throw new AppError('INPUT_INVALID', 'The priority is a whole number from 0 to 100.')
}

function Preview({ job }: { readonly job: JobDetail }): JSX.Element {
  return (
    <>
      <p>
        <Id id={job.id} href={`/deck/jobs/${job.id}`} />
        <span safe>{` is ${job.state}: ${job.type}, priority ${job.priority}.`}</span>
      </p>
      <p class="hint">
        <Line text={job.payload} />
      </p>
    </>
  )
}

function PriorityField({ value }: { readonly value: string }): JSX.Element {
  return (
    <label class="field">
      <span>Priority, 0 to 100</span>
      <input
        type="text"
        name="priority"
        value={value}
        inputmode="numeric"
        required
        autocomplete="off"
      />
    </label>
  )
}

function PayloadField({ value }: { readonly value: string }): JSX.Element {
  return (
    <label class="field">
      <span>Another payload, JSON; empty: as it is</span>
      <textarea name="payload" rows="8" spellcheck="false" maxlength={String(longestPayload)} safe>
        {value}
      </textarea>
    </label>
  )
}
