/** The queues of durable jobs: what waits and runs, how far behind they are, paused or limited. */

import type { FastifyRequest } from 'fastify'
import type { QueueStatus } from '../../../chokaq/index.js'
import {
  changeQueue,
  refuseUnknownQueue,
  type QueueChanges,
} from '../../../operations/act-on-jobs.js'
import { listKnownQueues } from '../../../operations/known-queues.js'
import { readJobs } from '../../api/read-only.js'
import { addAction } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { FieldError, type FieldFault } from '../field-fault.js'
import { undoHref } from '../parts/audit-table.js'
import { Badge } from '../parts/badge.js'
import { TextField } from '../parts/form.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Line, spanText } from '../parts/text.js'
import { sendPage, visitorOf } from '../send-page.js'
import { one, type Values } from '../values.js'

const path = '/deck/queues'

function columns(canChange: boolean): readonly Column<QueueStatus>[] {
  return [
    { head: 'Queue', kind: 'text', cell: ({ name }) => <Line text={name} /> },
    { head: 'State', kind: 'state', cell: ({ settings }) => <Open isPaused={settings.paused} /> },
    ...(canChange
      ? [
          {
            head: 'Change',
            kind: 'short' as const,
            cell: ({ name, settings }: QueueStatus) => (
              <Links name={name} isPaused={settings.paused} />
            ),
          },
        ]
      : []),
    { head: 'Due', kind: 'number', cell: ({ due }) => <Count count={due} /> },
    {
      head: 'Runs',
      kind: 'number',
      cell: ({ fetched, processing }) => <Count count={fetched + processing} />,
    },
    {
      head: 'Later',
      kind: 'number',
      isMinor: true,
      cell: (queue) => <Count count={queue.scheduled} />,
    },
    { head: 'Dead', kind: 'number', cell: ({ dead }) => <Count count={dead} /> },
    {
      head: 'Lag',
      kind: 'number',
      cell: ({ lagSeconds }) => <Line text={lagSeconds === 0 ? null : spanText(lagSeconds)} />,
    },
    {
      head: 'Workers',
      kind: 'number',
      isMinor: true,
      cell: ({ settings }) => <Line text={String(settings.maxWorkers ?? 'any')} />,
    },
  ]
}

function Open({ isPaused }: { readonly isPaused: boolean }): JSX.Element {
  return isPaused ? <Badge tone="warn" text="paused" /> : <Badge tone="good" text="open" />
}

function Links({
  name,
  isPaused,
}: {
  readonly name: string
  readonly isPaused: boolean
}): JSX.Element {
  const to = (action: string) => `${path}/${encodeURIComponent(name)}/${action}`
  const [action, text] = isPaused ? ['resume', 'Resume'] : ['pause', 'Pause']
  return (
    <span class="links">
      <a href={to(action)} aria-label={`${text} ${name}`} safe>
        {text}
      </a>{' '}
      <a href={to('limit')} aria-label={`Limit ${name}`}>
        Limit
      </a>
    </span>
  )
}

export function addQueuesPage(app: DeckServer, deck: DeckContext): void {
  app.get('/queues', async (request, reply) => {
    const items = await readJobs(deck.db, (storage) => listKnownQueues(storage, deck.config.chokaq))
    return sendPage(
      request,
      reply,
      { title: 'Queues', section: 'queues', watch: ['queues'] },
      <>
        <h1>Queues</h1>
        <Table
          caption="Queues, by name"
          columns={columns(visitorOf(request).canChange)}
          items={items}
          empty="There is no queue."
        />
      </>,
    )
  })
  addQueueAction(app, deck, {
    name: 'pause',
    title: 'Pause',
    effect: 'No more jobs of it are begun; what runs goes on.',
    done: 'is paused',
    changes: () => ({ paused: true }),
  })
  addQueueAction(app, deck, {
    name: 'resume',
    title: 'Resume',
    effect: 'Jobs of it are begun again.',
    done: 'is open again',
    changes: () => ({ paused: false }),
  })
  addQueueAction(app, deck, {
    name: 'limit',
    title: 'Limit',
    effect: 'So many of its jobs run at once, among all instances. None that runs is ended.',
    done: 'has its limit',
    fieldNames: ['maxWorkers'],
    fields: (values, fault) => (
      <TextField
        name="maxWorkers"
        fault={fault}
        label="Jobs at once, 1 to 10000, or none: no limit"
        value={one(values, 'maxWorkers') ?? ''}
      />
    ),
    initial: ({ settings }) => ({ maxWorkers: String(settings.maxWorkers ?? 'none') }),
    changes: (values) => ({ maxWorkers: workersOf(values) }),
  })
}

interface QueueAction {
  readonly name: string
  readonly title: string
  readonly effect: string
  readonly done: string
  readonly fields?: (values: Values, fault: FieldFault | undefined) => JSX.Element
  readonly fieldNames?: readonly string[]
  /** What the fields hold at first. */
  readonly initial?: (queue: QueueStatus) => Values
  readonly changes: (values: Values) => QueueChanges
}

interface Subject {
  readonly queue: string
  readonly values: Values
}

function addQueueAction(app: DeckServer, deck: DeckContext, action: QueueAction): void {
  const { name, title, effect, done, fields, fieldNames, initial, changes } = action
  const { db, jobs, config } = deck
  addAction<Subject>(app, deck, {
    path: `/queues/:name/${name}`,
    section: 'queues',
    ...{ title, effect, ...(fields && { fields }), ...(fieldNames && { fieldNames }) },
    read: (values, { params }: FastifyRequest) => ({
      queue: (params as { readonly name: string }).name,
      values,
    }),
    view: async ({ queue }) => {
      const known = await readJobs(db, (storage) => listKnownQueues(storage, config.chokaq))
      refuseUnknownQueue(queue, known)
      const status = known.find((each) => each.name === queue)
      return {
        preview: () => <Preview queue={queue} status={status} />,
        ...(initial && status && { initial: initial(status) }),
      }
    },
    carryOut: async ({ queue, values }, order) => {
      const moves = { db, moves: jobs.moves }
      const { auditId } = await changeQueue(moves, queue, changes(values), order)
      const link = { href: undoHref(auditId, path), text: 'Take it back' }
      return { tone: 'good', text: `The queue ${queue} ${done}.`, link }
    },
    back: () => path,
  })
}

/** Null: no limit. @throws AppError INPUT_INVALID */
function workersOf(values: Values): number | null {
  const text = one(values, 'maxWorkers')
  if (text === undefined || text === 'none') return null
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 10_000) return Number(text)
  throw new FieldError('maxWorkers', 'Workers are a whole number from 1 to 10000, or none.')
}

function Preview(props: {
  readonly queue: string
  readonly status: QueueStatus | undefined
}): JSX.Element {
  const { queue, status } = props
  const state = status?.settings.paused === true ? 'paused' : 'open'
  const workers = status?.settings.maxWorkers ?? 'any number of'
  const counts = `${status?.due ?? 0} due, ${status?.processing ?? 0} running`
  return <p safe>{`${queue} is ${state}, ${workers} workers, ${counts}.`}</p>
}
