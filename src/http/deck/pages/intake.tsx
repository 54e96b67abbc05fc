/** Messages of crm that could not be taken in and were set aside: why, and each of them. */

import { AppError } from '../../../errors.js'
import {
  findParkedMessage,
  listParkedMessages,
  type ParkedDetail,
  type ParkedLine,
} from '../../../operations/parked-messages.js'
import { readUuid } from '../../../operations/read-input.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer, Visitor } from '../context.js'
import { Facts } from '../parts/facts.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { Selection } from '../parts/selection.js'
import { Table, type Column } from '../parts/table.js'
import { countText, Id, Line, Time } from '../parts/text.js'
import { readPage } from '../read-page.js'
import { sendPage, visitorOf } from '../send-page.js'
import { one, valuesOf, type Values } from '../values.js'
import { addIntakeActions } from './intake-actions.js'

const path = '/deck/intake'

const columns: readonly Column<ParkedLine>[] = [
  { head: 'Message', kind: 'id', cell: ({ id }) => <Id id={id} href={`${path}/${id}`} /> },
  { head: 'Set aside', kind: 'time', cell: ({ parkedAt }) => <Time at={parkedAt} /> },
  { head: 'Why', kind: 'text', cell: ({ reason }) => <Line text={reason} /> },
  {
    head: 'Partition',
    kind: 'number',
    isMinor: true,
    cell: ({ partition }) => <Line text={String(partition)} />,
  },
  { head: 'Offset', kind: 'number', isMinor: true, cell: ({ offset }) => <Line text={offset} /> },
  {
    head: 'Bytes',
    kind: 'number',
    isMinor: true,
    cell: ({ bytes }) => <Line text={bytes === null ? null : countText(bytes)} />,
  },
]

export function addIntakePages(app: DeckServer, deck: DeckContext): void {
  const { db, config } = deck
  app.get('/intake', async (request, reply) => {
    const values = { cursor: one(valuesOf(request.query), 'cursor') }
    const { page } = await readPage(() =>
      readOnly(db, (trx) => listParkedMessages(trx, { limit: rowsPerPage, ...values })),
    )
    return sendPage(
      request,
      reply,
      { title: 'Intake', section: 'intake', watch: ['provisions'] },
      <>
        <div class="bar">
          <h1>Intake</h1>
          <Pager {...{ page, path, values }} one="message" />
        </div>
        <p class="lead">
          Messages of crm that could not be taken in, set aside so that those behind them go on.
          Their deals have no chat until somebody looks.
        </p>
        <List
          {...{ items: page.items, values, visitor: visitorOf(request) }}
          empty={
            config.intake.enabled
              ? 'No message is set aside: all that came was taken in.'
              : 'No message is set aside. The intake is off (INTAKE_ENABLED): the messenger takes the deals in.'
          }
        />
      </>,
    )
  })

  app.get('/intake/:id', async (request, reply) => {
    const id = readUuid('a message id', (request.params as { readonly id: string }).id)
    const message = await readOnly(db, (trx) => findParkedMessage(trx, id))
    if (message === undefined) {
      throw new AppError('NOT_FOUND', `There is no message ${id}: it was dealt with already.`)
    }
    return sendPage(
      request,
      reply,
      { title: 'Message', section: 'intake' },
      <Message message={message} canChange={visitorOf(request).canChange} />,
    )
  })
  addIntakeActions(app, deck)
}

function List(props: {
  readonly items: readonly ParkedLine[]
  readonly values: Values
  readonly visitor: Visitor
  readonly empty: string
}): JSX.Element {
  const { items, values, visitor, empty } = props
  const table = { caption: 'Messages that were set aside, newest first', columns, items, empty }
  if (!visitor.canChange || items.length === 0) return <Table {...table} />
  return (
    <>
      <p class="buttons">
        <a href={`${path}/all/retry`}>Take all in…</a>
      </p>
      <Selection
        {...{ path, values }}
        actions={[
          { name: 'retry', text: 'Take in' },
          { name: 'discard', text: 'Discard' },
        ]}
      >
        <Table
          {...table}
          choice={{
            field: 'message',
            valueOf: ({ id }: ParkedLine) => id,
            nameOf: ({ id }: ParkedLine) => `message ${id}`,
            chosen: [],
          }}
        />
      </Selection>
    </>
  )
}

function Message(props: {
  readonly message: ParkedDetail
  readonly canChange: boolean
}): JSX.Element {
  const { message, canChange } = props
  const { id, topic, partition, offset, bytes, reason, parkedAt, value } = message
  const texts = [
    ['Why', reason],
    ['Topic', topic],
    ['Partition', String(partition)],
    ['Offset', offset],
    ['Bytes', bytes === null ? null : countText(bytes)],
  ] as const
  return (
    <>
      <div class="bar">
        <h1>Message</h1>
        <Id id={id} />
      </div>
      {canChange && (
        <p class="buttons">
          <a href={`${path}/retry?message=${id}`}>Take in</a>
          <a href={`${path}/discard?message=${id}`}>Discard</a>
        </p>
      )}
      <dl class="facts">
        <Facts texts={texts} times={[['Set aside', parkedAt]]} />
      </dl>
      {value !== null && (
        <details>
          <summary>What crm wrote; it may hold titles and members</summary>
          <pre class="payload" tabindex="0" aria-label="What crm wrote" safe>
            {shown(value)}
          </pre>
        </details>
      )}
    </>
  )
}

/** More of one message nobody reads on a page; the command line prints all of it. */
const shownBytes = 64 * 1_024

function shown(value: Buffer): string {
  if (value.length <= shownBytes) return value.toString()
  return `${value.subarray(0, shownBytes).toString()}…`
}
