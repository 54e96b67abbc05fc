/** The cycles, newest first: what each found and what became of it. */

import { listRuns, type RunLine } from '../../../operations/list-runs.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Fault } from '../parts/form.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { OutcomeBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Line, Nothing, spanText, Time } from '../parts/text.js'
import { readPage } from '../read-page.js'
import { sendPage } from '../send-page.js'
import { one, valuesOf } from '../values.js'

const columns: readonly Column<RunLine>[] = [
  { head: 'Started', kind: 'time', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { head: 'Outcome', kind: 'state', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { head: 'Took', kind: 'number', cell: ({ durationMs }) => <Took ms={durationMs} /> },
  { head: 'Claimed', kind: 'number', cell: ({ claimed }) => <Count count={claimed} /> },
  { head: 'Made', kind: 'number', cell: ({ provisioned }) => <Count count={provisioned} /> },
  { head: 'Retried', kind: 'number', cell: ({ retried }) => <Count count={retried} /> },
  { head: 'Poison', kind: 'number', cell: ({ failed }) => <Count count={failed} /> },
  {
    head: 'Skipped',
    kind: 'number',
    isMinor: true,
    cell: ({ skipped }) => <Count count={skipped} />,
  },
  { head: 'Reason', kind: 'text', isMinor: true, cell: ({ reason }) => <Line text={reason} /> },
  { head: 'Host', kind: 'short', isMinor: true, cell: ({ host }) => <Line text={host} /> },
]

function Took({ ms }: { readonly ms: number | null }): JSX.Element {
  return ms === null ? <Nothing /> : <span safe>{spanText(ms / 1_000)}</span>
}

export function addRunsPage(app: DeckServer, { db }: DeckContext): void {
  app.get('/runs', async (request, reply) => {
    const values = valuesOf(request.query)
    const cursor = one(values, 'cursor')
    const { page, fault } = await readPage(() =>
      readOnly(db, (trx) => listRuns(trx, { limit: rowsPerPage, cursor })),
    )
    return sendPage(
      request,
      reply,
      { title: 'Runs', section: 'runs', watch: ['runs'] },
      <>
        <div class="bar">
          <h1>Runs</h1>
          <Pager page={page} path="/deck/runs" values={{ cursor }} one="cycle" />
        </div>
        <Fault text={fault} />
        <Table
          caption="Cycles, newest first"
          columns={columns}
          items={page.items}
          empty={
            fault === undefined
              ? 'No cycle has run yet. One begins with the service, and then every polling interval.'
              : 'Begin with the newest to see cycles.'
          }
        />
      </>,
    )
  })
}
