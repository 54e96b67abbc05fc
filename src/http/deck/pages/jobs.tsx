/** Durable jobs of one place: live ones newest first, ended ones latest first. */

import { jobStates, ChokaqError } from '../../../chokaq/index.js'
import { AppError } from '../../../errors.js'
import { listJobs, type JobLine } from '../../../operations/list-jobs.js'
import { readJobs } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { FilterBar, type FilterField } from '../parts/filter-bar.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { JobBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Id, Line, Time } from '../parts/text.js'
import { readPage } from '../read-page.js'
import { sendPage } from '../send-page.js'
import { inputFault, one, valuesOf, type Values } from '../values.js'

const path = '/deck/jobs'

const places = [
  { value: 'hot', text: 'Hot: live' },
  { value: 'archive', text: 'Archive: succeeded' },
  { value: 'dlq', text: 'DLQ: dead' },
] as const

const fields: readonly FilterField[] = [
  { name: 'place', label: 'Place', options: places },
  {
    name: 'state',
    label: 'State',
    options: [
      { value: '', text: 'All' },
      ...jobStates.map((state) => ({ value: state, text: state })),
    ],
  },
  { name: 'queue', label: 'Queue' },
  { name: 'type', label: 'Type', placeholder: 'provision.requeue.v1', isWide: true },
]

const columns: readonly Column<JobLine>[] = [
  { head: 'Job', kind: 'id', cell: ({ id }) => <Id id={id} href={`${path}/${id}`} /> },
  { head: 'State', kind: 'state', cell: ({ state }) => <JobBadge state={state} /> },
  { head: 'Type', kind: 'text', cell: ({ type }) => <Line text={type} /> },
  { head: 'Runs', kind: 'number', cell: ({ attempts }) => <Count count={attempts} /> },
  { head: 'Ended or due', kind: 'time', cell: (job) => <Time at={job.finishedAt ?? job.dueAt} /> },
  {
    head: 'Why',
    kind: 'short',
    cell: ({ reason, lastError }) => <Line text={reason ?? lastError} />,
  },
  { head: 'Queue', kind: 'word', isMinor: true, cell: ({ queue }) => <Line text={queue} /> },
]

export function addJobsPage(app: DeckServer, { db }: DeckContext): void {
  app.get('/jobs', async (request, reply) => {
    const values = valuesOf(request.query)
    const { page, fault } = await readPage(async () => {
      const query = queryOf(values)
      return readJobs(db, (storage) => listJobs(storage, query))
    }, faultOf)
    return sendPage(
      request,
      reply,
      { title: 'Jobs', section: 'jobs', watch: ['jobs'] },
      <>
        <div class="bar">
          <h1>Jobs</h1>
          <Pager {...{ page, path, values }} one="job" />
        </div>
        <FilterBar {...{ path, fields, values, fault }} />
        <Table {...{ columns, items: page.items }} caption="Jobs" empty="No job is like this." />
      </>,
    )
  })
}

function faultOf(error: unknown): string | undefined {
  return error instanceof ChokaqError ? error.message : inputFault(error)
}

/** @throws AppError INPUT_INVALID */
function queryOf(values: Values) {
  const placeText = one(values, 'place') ?? 'hot'
  const place = places.find(({ value }) => value === placeText)?.value
  const stateText = one(values, 'state')
  const state = jobStates.find((name) => name === stateText)
  if (place === undefined || (stateText !== undefined && state === undefined))
    throw new AppError('INPUT_INVALID', 'There is no such place or state of jobs.')
  return {
    ...{ place, state, queue: one(values, 'queue'), type: one(values, 'type') },
    ...{ cursor: one(values, 'cursor'), limit: rowsPerPage },
  }
}
