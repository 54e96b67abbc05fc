/** Events on their way to crm: how the outbox stands, and each event of it. */

import { listEvents, type EventLine } from '../../../operations/list-events.js'
import { readEventState } from '../../../operations/event-state.js'
import { outboxStatus, type OutboxStatus } from '../../../operations/outbox-status.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Figure } from '../parts/figure.js'
import { FilterBar, type FilterField } from '../parts/filter-bar.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { Selection } from '../parts/selection.js'
import { EventBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, countText, Id, Line, spanText, Time } from '../parts/text.js'
import { readPage } from '../read-page.js'
import { sendPage, visitorOf } from '../send-page.js'
import { one, valuesOf, type Values } from '../values.js'
import { EventBulkLinks } from './event-actions.js'

const path = '/deck/outbox'
const states = ['pending', 'parked', 'published', 'superseded', 'skipped']

const fields: readonly FilterField[] = [
  {
    name: 'state',
    label: 'State',
    options: [
      { value: '', text: 'All' },
      ...states.map((state) => ({ value: state, text: state })),
    ],
  },
  { name: 'error', label: 'Last error begins' },
  { name: 'dealId', label: 'Deal', placeholder: 'id', isWide: true },
]

const columns: readonly Column<EventLine>[] = [
  { head: 'Event', kind: 'id', cell: ({ id }) => <Id id={id} href={`${path}/${id}`} /> },
  { head: 'State', kind: 'state', cell: ({ state }) => <EventBadge state={state} /> },
  { head: 'Says', kind: 'word', cell: ({ status }) => <Line text={status} /> },
  { head: 'Occurred', kind: 'time', cell: ({ occurredAt }) => <Time at={occurredAt} /> },
  {
    head: 'Failed',
    kind: 'number',
    isMinor: true,
    cell: (event) => <Count count={event.attempts} />,
  },
  {
    head: 'Last error',
    kind: 'text',
    isMinor: true,
    cell: (event) => <Line text={event.lastError} />,
  },
  {
    head: 'Deal',
    kind: 'short',
    isMinor: true,
    cell: ({ dealId }) => <Id id={dealId} href={`/deck/provisions/${dealId}`} />,
  },
]

export function addOutboxPage(app: DeckServer, { db, config }: DeckContext): void {
  app.get('/outbox', async (request, reply) => {
    const values = valuesOf(request.query)
    const status = await readOnly(db, (trx) => outboxStatus(trx, config.outbox.relay))
    const { page, fault } = await readPage(async () => {
      const state = one(values, 'state')
      const query = {
        state: state === undefined ? undefined : readEventState(state),
        ...{ dealId: one(values, 'dealId'), error: one(values, 'error') },
        ...{ cursor: one(values, 'cursor'), limit: rowsPerPage },
      }
      return readOnly(db, (trx) => listEvents(trx, query))
    })
    return sendPage(
      request,
      reply,
      { title: 'Outbox', section: 'outbox', watch: ['outbox'] },
      <>
        <div class="bar">
          <h1>Outbox</h1>
          <Pager {...{ page, path, values }} one="event" />
        </div>
        <Standing status={status} />
        <FilterBar {...{ path, fields, values, fault }} />
        <List {...{ items: page.items, values }} canChange={visitorOf(request).canChange} />
      </>,
    )
  })
}

/** Chosen are those that something can be done with: whoever wants to must look at them alone. */
function List(props: {
  readonly items: readonly EventLine[]
  readonly values: Values
  readonly canChange: boolean
}): JSX.Element {
  const { items, values, canChange } = props
  const table = { caption: 'Events, newest first', columns, items, empty: 'No event is like this.' }
  const state = one(values, 'state')
  const isOpen = state === 'parked' || state === 'pending'
  if (!canChange || items.length === 0 || !isOpen) return <Table {...table} />
  return (
    <>
      {state === 'parked' && <EventBulkLinks values={values} />}
      <Selection
        {...{ path, values }}
        actions={[
          { name: 'replay', text: 'Replay' },
          { name: 'skip', text: 'Skip' },
        ]}
      >
        <Table
          {...table}
          choice={{
            field: 'event',
            valueOf: ({ id }: EventLine) => id,
            nameOf: ({ id }: EventLine) => `event ${id}`,
            chosen: [],
          }}
        />
      </Selection>
    </>
  )
}

function Standing({ status }: { readonly status: OutboxStatus }): JSX.Element {
  const { backlogByAge, parked, publishLagSeconds, failing, publishedLastHour, slots } = status
  return (
    <dl class="figure-row">
      {backlogByAge?.map(({ age, events }) => (
        <Figure
          name={`Waiting ${age}`}
          value={countText(events)}
          note="events"
          href={`${path}?state=pending`}
        />
      ))}
      {publishLagSeconds !== null && (
        <Figure
          name="Publish lag"
          value={publishLagSeconds === 0 ? '–' : spanText(publishLagSeconds)}
          note={`${countText(failing ?? 0)} in backoff, ${countText(publishedLastHour ?? 0)} sent in 1h`}
        />
      )}
      {slots?.map(({ name, active, lagBytes }) => (
        <Figure
          name={name}
          value={`${countText(lagBytes)} B`}
          note={active ? 'read' : 'not read'}
        />
      ))}
      <Figure
        name="Parked"
        value={countText(parked)}
        note="wait for a person"
        href={`${path}?state=parked`}
        {...(parked > 0 && { tone: 'bad' })}
      />
    </dl>
  )
}
