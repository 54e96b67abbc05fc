/** The provisions, most recently changed first: narrowed, searched, chosen for an action. */

import { findDeal } from '../../../operations/find-deal.js'
import { listProvisions, type ProvisionLine } from '../../../operations/list-provisions.js'
import type { Page } from '../../../operations/page.js'
import { readProvisionFilter } from '../../../operations/provision-filter.js'
import { readTitles } from '../../../operations/provision-titles.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer, Visitor } from '../context.js'
import { FilterBar, type FilterField } from '../parts/filter-bar.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { Selection } from '../parts/selection.js'
import { ProvisionBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Id, Line, Time } from '../parts/text.js'
import { filterInputOf } from '../provision-values.js'
import { BulkLinks } from './bulk-actions.js'
import { sendPage, visitorOf } from '../send-page.js'
import { inputFault, one, valuesOf, type Values } from '../values.js'

const path = '/deck/provisions'

const fields: readonly FilterField[] = [
  {
    name: 'state',
    label: 'State',
    options: [
      { value: '', text: 'All' },
      { value: 'poison', text: 'Out of attempts' },
      { value: 'Failed', text: 'Failed' },
      { value: 'Provisioning', text: 'Provisioning' },
      { value: 'Ready', text: 'Ready' },
    ],
  },
  { name: 'error', label: 'Last error begins', placeholder: 'guard:' },
  { name: 'olderThan', label: 'Older than', placeholder: '15m, 2h, 3d' },
  { name: 'tenant', label: 'Tenant', placeholder: 'id', isWide: true },
  { name: 'search', label: 'Deal or chat', placeholder: 'id', isWide: true },
]

interface Row extends ProvisionLine {
  readonly title: string
}

const nothing: Page<Row> = { items: [], nextCursor: null }

export function addProvisionsPage(app: DeckServer, deck: DeckContext): void {
  const { db, operator } = deck

  async function read(values: Values): Promise<Page<Row>> {
    const filter = readProvisionFilter(filterInputOf(values))
    const { maxAttempts } = operator
    const cursor = one(values, 'cursor')
    return readOnly(db, async (trx) => {
      const page = await listProvisions(trx, { filter, maxAttempts, limit: rowsPerPage, cursor })
      const titles = await readTitles(
        trx,
        page.items.map(({ dealId }) => dealId),
      )
      const items = page.items.map((line) => ({ ...line, title: titles.get(line.dealId) ?? '' }))
      return { ...page, items }
    })
  }

  app.get('/provisions', async (request, reply) => {
    const values = valuesOf(request.query)
    let page = nothing
    let fault: string | undefined
    try {
      const search = one(values, 'search')
      if (search !== undefined) {
        const dealId = await readOnly(db, (trx) => findDeal(trx, operator.chatView, search))
        if (dealId !== undefined) return await reply.redirect(`${path}/${dealId}`, 303)
        fault = 'No deal and no chat has this id.'
      } else page = await read(values)
    } catch (error) {
      fault = inputFault(error)
      if (fault === undefined) throw error
    }
    return sendPage(
      request,
      reply,
      { title: 'Provisions', section: 'provisions', watch: ['provisions'] },
      <>
        <div class="bar">
          <h1>Provisions</h1>
          <Pager {...{ page, path, values }} one="deal" />
        </div>
        <FilterBar {...{ path, fields, values, fault }} />
        {visitorOf(request).canChange && page.items.length > 0 && <BulkLinks values={values} />}
        <List
          page={page}
          values={values}
          visitor={visitorOf(request)}
          maxAttempts={operator.maxAttempts}
          isKnown={fault === undefined}
        />
      </>,
    )
  })
}

interface ListProps {
  readonly page: Page<Row>
  readonly values: Values
  readonly visitor: Visitor
  readonly maxAttempts: number
  /** False where the filter means nothing. */
  readonly isKnown: boolean
}

function List({ page, values, visitor, maxAttempts, isKnown }: ListProps): JSX.Element {
  const table = {
    caption: 'Provisions, most recently changed first',
    columns: columns(maxAttempts),
    items: page.items,
    empty: isKnown ? 'No deal is like this.' : 'Mend the filter to see deals.',
  }
  if (!visitor.canChange || page.items.length === 0) return <Table {...table} />
  return (
    <Selection
      {...{ path, values }}
      actions={[
        { name: 'requeue', text: 'Re-enqueue' },
        { name: 'reemit', text: 'Tell crm again' },
        { name: 'reconcile', text: 'Reconcile' },
      ]}
    >
      <Table
        {...table}
        choice={{
          field: 'deal',
          valueOf: ({ dealId }: Row) => dealId,
          nameOf: ({ dealId }: Row) => `deal ${dealId}`,
          chosen: [],
        }}
      />
    </Selection>
  )
}

function columns(maxAttempts: number): readonly Column<Row>[] {
  return [
    {
      head: 'Deal',
      kind: 'id',
      cell: ({ dealId }) => <Id id={dealId} href={`${path}/${dealId}`} />,
    },
    {
      head: 'State',
      kind: 'state',
      cell: (row) => <ProvisionBadge row={row} maxAttempts={maxAttempts} />,
    },
    { head: 'Attempts', kind: 'number', cell: ({ attempts }) => <Count count={attempts} /> },
    { head: 'Last error', kind: 'short', cell: ({ lastError }) => <Line text={lastError} /> },
    { head: 'Changed', kind: 'time', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    {
      head: 'Next attempt',
      kind: 'time',
      isMinor: true,
      cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} />,
    },
    { head: 'Title', kind: 'text', isMinor: true, cell: ({ title }) => <Line text={title} /> },
  ]
}
