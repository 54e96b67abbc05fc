/** Durable jobs of one place: live ones newest first, ended ones latest first. */

import { jobStates, ChokaqError } from '../../../chokaq/index.js'
import { listJobs, type JobLine } from '../../../operations/list-jobs.js'
import { readJobs } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { FilterBar, type FilterField } from '../parts/filter-bar.js'
import { jobFilterOf, jobPlaces } from '../job-values.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { Selection } from '../parts/selection.js'
import { JobBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Id, Line, Time } from '../parts/text.js'
import { readPage } from '../read-page.js'
import { sendPage, visitorOf } from '../send-page.js'
import { inputFault, one, valuesOf, type Values } from '../values.js'
import { addJobBulkActions, JobBulkLink, jobActionOf } from './job-bulk-actions.js'

const path = '/deck/jobs'

const fields: readonly FilterField[] = [
  { name: 'place', label: 'Place', options: jobPlaces },
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
  { name: 'error', label: 'Error contains' },
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

export function addJobsPage(app: DeckServer, deck: DeckContext): void {
  const { db } = deck
  app.get('/jobs', async (request, reply) => {
    const values = valuesOf(request.query)
    const { page, fault } = await readPage(async () => {
      const filter = jobFilterOf(values)
      const range = { cursor: one(values, 'cursor'), limit: rowsPerPage }
      return readJobs(db, (storage) => listJobs(storage, { ...filter, ...range }))
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
        <List {...{ items: page.items, values }} canChange={visitorOf(request).canChange} />
      </>,
    )
  })
  addJobBulkActions(app, deck)
}

function List(props: {
  readonly items: readonly JobLine[]
  readonly values: Values
  readonly canChange: boolean
}): JSX.Element {
  const { items, values, canChange } = props
  const table = { caption: 'Jobs', columns, items, empty: 'No job is like this.' }
  const action = jobActionOf(one(values, 'place') ?? 'hot')
  if (!canChange || items.length === 0 || action === undefined) return <Table {...table} />
  return (
    <>
      <JobBulkLink values={values} />
      <Selection {...{ path, values }} actions={[{ name: action.name, text: action.title }]}>
        <Table
          {...table}
          choice={{
            field: 'job',
            valueOf: ({ id }: JobLine) => id,
            nameOf: ({ id }: JobLine) => `job ${id}`,
            chosen: [],
          }}
        />
      </Selection>
    </>
  )
}

function faultOf(error: unknown): string | undefined {
  return error instanceof ChokaqError ? error.message : inputFault(error)
}
