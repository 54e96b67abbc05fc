/** One deal: what it is, what happens next, what failed, what was said to crm, and what operators did. */

import { sql } from 'kysely'
import { AppError } from '../../../errors.js'
import { listAudit } from '../../../operations/audit-trail.js'
import { nextStep } from '../../../operations/next-step.js'
import { readMembers, type MemberLine } from '../../../operations/provision-members.js'
import { readTitles } from '../../../operations/provision-titles.js'
import { readUuid } from '../../../operations/read-input.js'
import { showProvision, type ProvisionDetail } from '../../../operations/show-provision.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { AttemptTimeline } from '../parts/attempt-timeline.js'
import { AuditTable } from '../parts/audit-table.js'
import { Badge } from '../parts/badge.js'
import { Fact } from '../parts/facts.js'
import { EventBadge, ProvisionBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Id, Line, Text, Time } from '../parts/text.js'
import { sendPage, visitorOf } from '../send-page.js'

/** More lines of one deal's audit, or members, are somebody's search and not a page. */
const linesAtMost = 50

type EventOfDeal = ProvisionDetail['events'][number]

const eventColumns: readonly Column<EventOfDeal>[] = [
  { head: 'Event', kind: 'id', cell: ({ id }) => <Id id={id} href={`/deck/outbox/${id}`} /> },
  { head: 'State', kind: 'state', cell: ({ state }) => <EventBadge state={state} /> },
  { head: 'Says', kind: 'word', cell: ({ status }) => <Line text={status} /> },
  { head: 'Occurred', kind: 'time', cell: ({ occurredAt }) => <Time at={occurredAt} /> },
  {
    head: 'Published',
    kind: 'time',
    isMinor: true,
    cell: ({ publishedAt }) => <Time at={publishedAt} />,
  },
  { head: 'Sequence', kind: 'short', isMinor: true, cell: ({ seq }) => <Line text={seq} /> },
]

const memberColumns: readonly Column<MemberLine>[] = [
  { head: 'User', kind: 'id', cell: ({ userId }) => <Id id={userId} /> },
  { head: 'Role', kind: 'word', cell: ({ role }) => <Line text={role} /> },
  {
    head: 'In the chat',
    kind: 'state',
    cell: ({ inChat }) => <Badge tone={inChat === 'active' ? 'good' : 'warn'} text={inChat} />,
  },
]

export function addProvisionPage(app: DeckServer, deck: DeckContext): void {
  const { db, operator, config } = deck
  app.get('/provisions/:dealId', async (request, reply) => {
    const dealId = readUuid('a deal id', (request.params as { readonly dealId: string }).dealId)
    const seen = await readOnly(db, async (trx) => {
      const detail = await showProvision(trx, operator.chatView, dealId)
      if (detail === undefined) return undefined
      const clock = await sql<{ nowMs: number }>`
        select extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"
      `.execute(trx)
      return {
        detail,
        nowMs: clock.rows[0]?.nowMs ?? 0,
        title: (await readTitles(trx, [dealId])).get(dealId) ?? '',
        members: await readMembers(trx, operator.chatView, dealId, linesAtMost),
        audit: await listAudit(trx, { dealId, limit: linesAtMost }),
      }
    })
    if (seen === undefined)
      throw new AppError('NOT_FOUND', `There is no provision for deal ${dealId}.`)
    const { detail, title, members, audit, nowMs } = seen
    const { canChange } = visitorOf(request)
    const path = `/deck/provisions/${dealId}`
    const next = nextStep(detail, config.retry, nowMs)
    return sendPage(
      request,
      reply,
      { title: 'Deal', section: 'provisions', watch: ['provisions', 'outbox'] },
      <>
        <div class="bar">
          <h1>Deal</h1>
          <Id id={dealId} />
          <ProvisionBadge row={detail} maxAttempts={operator.maxAttempts} />
        </div>
        <section>
          <h2>What happens next</h2>
          <p class="next-step" safe>
            {next}
          </p>
          {canChange && <Actions dealId={dealId} path={path} isReady={detail.status === 'Ready'} />}
        </section>
        <Row {...{ detail, title }} maxAttempts={operator.maxAttempts} />
        <section>
          <h2>Attempts that failed</h2>
          <AttemptTimeline
            items={detail.failedAttempts}
            attempts={detail.attempts}
            maxAttempts={operator.maxAttempts}
          />
        </section>
        <section>
          <h2>Events for crm</h2>
          <Table
            caption="Events of this deal, newest first"
            columns={eventColumns}
            items={detail.events.toReversed()}
            empty="Nothing was said of this deal, or it was deleted after OUTBOX_RETENTION."
          />
        </section>
        <section>
          <h2>Members</h2>
          <Table
            caption="Members that the deal lists"
            columns={memberColumns}
            items={members}
            empty="The deal lists nobody."
          />
        </section>
        <section>
          <h2>What operators did</h2>
          <AuditTable items={audit.items} canChange={canChange} back={path} isOfDeal />
        </section>
      </>,
    )
  })
}

function Actions(props: {
  readonly dealId: string
  readonly path: string
  readonly isReady: boolean
}): JSX.Element {
  const { dealId, path, isReady } = props
  const to = (action: string) =>
    `/deck/provisions/${action}?${new URLSearchParams({ deal: dealId, back: path }).toString()}`
  return (
    <p class="buttons">
      {!isReady && <a href={to('requeue')}>Re-enqueue</a>}
      <a href={to('reemit')}>Tell crm again</a>
      <a href={to('reconcile')}>Reconcile</a>
    </p>
  )
}

function Row(props: {
  readonly detail: ProvisionDetail
  readonly title: string
  readonly maxAttempts: number
}): JSX.Element {
  const { detail, title, maxAttempts } = props
  const { chats, members, activeParticipants, feedRows } = detail
  return (
    <section>
      <h2>Provision and chat</h2>
      <dl class="facts">
        <Fact name="Title">
          <Text text={title} />
        </Fact>
        <Fact name="Attempts">
          <span safe>{`${detail.attempts} of ${maxAttempts}`}</span>
        </Fact>
        <Fact name="Last error">
          <Text text={detail.lastError} />
        </Fact>
        <Fact name="Next attempt">
          <Time at={detail.nextAttemptAt} />
        </Fact>
        <Fact name="Made">
          <Time at={detail.createdAt} />
        </Fact>
        <Fact name="Changed">
          <Time at={detail.updatedAt} />
        </Fact>
        <Fact name="Tenant">
          <Line text={detail.tenantId} />
        </Fact>
        <Fact name="Chat">
          <Line text={chats.map(({ id, kind, status }) => `${id} ${kind} ${status}`).join(', ')} />
        </Fact>
        <Fact name="Members listed">
          <Count count={members} />
        </Fact>
        <Fact name="Active participants">
          <Count count={activeParticipants} />
        </Fact>
        <Fact name="Feed rows">
          <Count count={feedRows} />
        </Fact>
      </dl>
    </section>
  )
}
