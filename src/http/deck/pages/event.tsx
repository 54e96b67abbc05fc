/** One event: what it says, what became of it; replayed or skipped. */

import { AppError } from '../../../errors.js'
import { replayEvents, skipEvents } from '../../../operations/act-on-events.js'
import { readUuid } from '../../../operations/read-input.js'
import { showEvent, type EventDetail } from '../../../operations/show-event.js'
import { readOnly } from '../../api/read-only.js'
import { addAction } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { undoHref } from '../parts/audit-table.js'
import { Fact, Facts } from '../parts/facts.js'
import { EventBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Id, Line, Time } from '../parts/text.js'
import { sendPage, visitorOf } from '../send-page.js'

type Done = EventDetail['audit'][number]

const auditColumns: readonly Column<Done>[] = [
  { head: 'At', kind: 'time', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', kind: 'word', cell: ({ actor }) => <Line text={actor} /> },
  { head: 'Action', kind: 'word', cell: ({ action }) => <Line text={action} /> },
  { head: 'Why', kind: 'text', cell: ({ reason }) => <Line text={reason} /> },
]

export function addEventPage(app: DeckServer, deck: DeckContext): void {
  const { db } = deck
  app.get('/outbox/:id', async (request, reply) => {
    const event = await read(idOf(request.params))
    const { state } = event
    const isOpen = state === 'pending' || state === 'parked'
    return sendPage(
      request,
      reply,
      { title: 'Event', section: 'outbox', watch: ['outbox'] },
      <>
        <div class="bar">
          <h1>Event</h1>
          <Id id={event.id} />
          <EventBadge state={state} />
        </div>
        {visitorOf(request).canChange && isOpen && (
          <p class="buttons">
            <a href={`/deck/outbox/${event.id}/replay`}>Replay</a>
            <a href={`/deck/outbox/${event.id}/skip`}>Skip</a>
          </p>
        )}
        <EventFacts event={event} />
        <section>
          <h2>Payload</h2>
          <pre class="payload" tabindex="0" aria-label="Payload" safe>
            {event.payload}
          </pre>
        </section>
        <section>
          <h2>What operators did</h2>
          <Table
            caption="What operators did to this event, oldest first"
            columns={auditColumns}
            items={event.audit}
            empty="Nobody has done anything to it."
          />
        </section>
      </>,
    )
  })

  async function read(id: string): Promise<EventDetail> {
    const event = await readOnly(db, (trx) => showEvent(trx, id))
    if (event !== undefined) return event
    throw new AppError(
      'NOT_FOUND',
      `There is no event ${id}. Settled ones are deleted after OUTBOX_RETENTION.`,
    )
  }
  addActions(app, deck)
}

function idOf(params: unknown): string {
  return readUuid('an event id', (params as { readonly id: string }).id)
}

const actions = [
  {
    ...{ name: 'replay', title: 'Replay', act: replayEvents, done: 'goes out again, from now' },
    effect: 'It gets all its sends again, from now.',
  },
  {
    ...{ name: 'skip', title: 'Skip', act: skipEvents, done: 'is skipped' },
    effect:
      'It will not go out: crm never hears it, and later events of its deal no longer wait for it.',
  },
] as const

function addActions(app: DeckServer, deck: DeckContext): void {
  const { db, operator, config } = deck
  const { onEventWritten } = operator
  const context = { db, relay: config.outbox.relay, ...(onEventWritten && { onEventWritten }) }
  for (const { name, title, effect, act, done } of actions) {
    addAction<string>(app, deck, {
      path: `/outbox/:id/${name}`,
      section: 'outbox',
      ...{ title, effect },
      read: (_values, request) => idOf(request.params),
      view: async (id) => {
        const dry = await act(context, { targets: { eventIds: [id] }, order: 'dry run' })
        const [no] = dry.refused
        return {
          preview: () => <Preview id={id} why={no?.why} />,
          isVoid: no !== undefined,
        }
      },
      carryOut: async (id, order) => {
        const { refused, auditId } = await act(context, { targets: { eventIds: [id] }, order })
        const [no] = refused
        if (no !== undefined) throw new AppError('USAGE', `Nothing was done: ${no.why}.`)
        const text = `The event ${done}.`
        if (name !== 'skip' || auditId === null) return { tone: 'good', text }
        const href = undoHref(auditId, `/deck/outbox/${id}`)
        return { tone: 'good', text, link: { href, text: 'Take it back' } }
      },
      back: (id) => `/deck/outbox/${id}`,
    })
  }
}

function Preview({
  id,
  why,
}: {
  readonly id: string
  readonly why: string | undefined
}): JSX.Element {
  return (
    <ul class="targets">
      <li>
        <Id id={id} href={`/deck/outbox/${id}`} />
        {why !== undefined && (
          <span class="why" safe>
            {why}
          </span>
        )}
      </li>
    </ul>
  )
}

function EventFacts({ event }: { readonly event: EventDetail }): JSX.Element {
  const texts = [
    ['Says', event.status],
    ['Sequence', event.seq],
    ['Sends failed', String(event.attempts)],
    ['Last error', event.lastError],
    ['Topic', event.topic],
    ['Type', `${event.type}, contract ${event.contractVersion}`],
    ['Correlation', event.correlationId],
    ['Trace', event.traceparent],
  ] as const
  const times = [
    ['Occurred', event.occurredAt],
    ['Next send', event.nextAttemptAt],
    ['Published', event.publishedAt],
    ['Parked', event.parkedAt],
    ['Superseded', event.supersededAt],
    ['Skipped', event.skippedAt],
  ] as const
  return (
    <dl class="facts">
      <Fact name="Deal">
        <Id id={event.dealId} href={`/deck/provisions/${event.dealId}`} />
      </Fact>
      <Facts {...{ texts, times }} />
    </dl>
  )
}
