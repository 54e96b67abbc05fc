/** One event: what it says, what became of it. */

import { AppError } from '../../../errors.js'
import { showEvent, type EventDetail } from '../../../operations/show-event.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Fact, Facts } from '../parts/facts.js'
import { EventBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Id, Line, Time } from '../parts/text.js'
import { sendPage, visitorOf } from '../send-page.js'
import { addEventActions, eventIdOf } from './event-actions.js'

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
    const event = await read(eventIdOf(request))
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
  addEventActions(app, deck)
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
