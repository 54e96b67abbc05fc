/** What operators did, newest first, and its undo. */

import { AppError } from '../../../errors.js'
import { listAudit } from '../../../operations/audit-trail.js'
import { enqueueOnce } from '../../../operations/once.js'
import { undoChange } from '../../../operations/undo/undo-change.js'
import {
  readLineId,
  readUndoableLine,
  UndoRefused,
} from '../../../operations/undo/undoable-line.js'
import { undoJob } from '../../../operations/jobs/undo-job.js'
import { atOnceAtMost } from '../../api/bulk-targets.js'
import { readOnly } from '../../api/read-only.js'
import { abandoned } from '../../api/time-limit.js'
import { addAction, refuseStopped } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { safeNext } from '../next-path.js'
import { AuditTable } from '../parts/audit-table.js'
import { FilterBar, type FilterField } from '../parts/filter-bar.js'
import { Pager, rowsPerPage } from '../parts/pager.js'
import { ofThem } from '../parts/text.js'
import { readPage } from '../read-page.js'
import { sendPage, visitorOf } from '../send-page.js'
import { one, queryOf, valuesOf } from '../values.js'

const path = '/deck/audit'

const fields: readonly FilterField[] = [
  { name: 'actor', label: 'By' },
  { name: 'action', label: 'Action', placeholder: 'requeue' },
  { name: 'dealId', label: 'Deal', placeholder: 'id', isWide: true },
]

export function addAuditPage(app: DeckServer, deck: DeckContext): void {
  const { db } = deck
  app.get('/audit', async (request, reply) => {
    const values = valuesOf(request.query)
    const query = {
      ...{ actor: one(values, 'actor'), action: one(values, 'action') },
      ...{ dealId: one(values, 'dealId'), cursor: one(values, 'cursor'), limit: rowsPerPage },
    }
    const { page, fault } = await readPage(() => readOnly(db, (trx) => listAudit(trx, query)))
    return sendPage(
      request,
      reply,
      { title: 'Audit', section: 'audit', watch: ['provisions', 'outbox', 'jobs', 'queues'] },
      <>
        <div class="bar">
          <h1>Audit</h1>
          <Pager {...{ page, path, values }} one="line" />
        </div>
        <FilterBar {...{ path, fields, values, fault }} />
        <AuditTable
          items={page.items}
          canChange={visitorOf(request).canChange}
          back={`${path}${queryOf(values)}`}
        />
      </>,
    )
  })
  addUndo(app, deck)
}

interface Line {
  readonly auditId: string
  readonly back: string
}

function addUndo(app: DeckServer, deck: DeckContext): void {
  const { db, operator, config, jobs } = deck
  const context = { ...operator, relay: config.outbox.relay, moves: jobs.moves }
  addAction<Line>(app, deck, {
    path: '/audit/:id/undo',
    section: 'audit',
    title: 'Take back',
    effect: 'It is put back as it was, if nothing has come of it and nobody has changed it since.',
    read: (values, request) => ({
      auditId: readLineId((request.params as { readonly id: string }).id),
      back: safeNext(one(values, 'back') ?? path),
    }),
    view: async ({ auditId }) => {
      try {
        const line = await readUndoableLine(db, auditId)
        return { preview: () => <What {...line} /> }
      } catch (error) {
        if (!(error instanceof UndoRefused)) throw error
        return { preview: () => <Stays why={error.message} />, isVoid: true }
      }
    },
    carryOut: async ({ auditId }, order, request, { keep }) => {
      const line = await readUndoableLine(db, auditId).catch((error: unknown) => {
        throw error instanceof UndoRefused ? conflict(error.message) : error
      })
      if (line.affected > atOnceAtMost) {
        const payload = { auditId, by: order.by, reason: order.reason }
        const options = { createdBy: order.by, idempotencyKey: order.requestId }
        const made = { db, queue: jobs.queue }
        return enqueueOnce(made, [undoJob, payload, options], keep, (id) => ({
          tone: 'good',
          text: `A job takes ${ofThem(line.affected, 'row')} back.`,
          link: { href: `/deck/jobs/${id}`, text: 'See the job' },
        }))
      }
      const command = { auditId, order, signal: abandoned(request) }
      const result = await undoChange(context, command)
      refuseStopped(result)
      const { affected, skipped, refused } = result
      const [first] = refused
      if (affected + skipped === 0 && first !== undefined) throw conflict(first.why)
      const left = first && ` ${ofThem(refused.length, 'row')} stayed: ${first.why}.`
      return {
        tone: refused.length > 0 ? 'warn' : 'good',
        text: `${ofThem(affected, 'row')} taken back.${left ?? ''}`,
      }
    },
    back: ({ back }) => back,
  })
}

function conflict(why: string): AppError {
  return new AppError('USAGE', `Nothing was taken back: ${why}.`)
}

function What(line: Awaited<ReturnType<typeof readUndoableLine>>): JSX.Element {
  const { action, actor, affected, filter, reason, dealId } = line
  return (
    <p>
      <strong safe>{`${action} of ${ofThem(affected, 'row')}`}</strong>
      <span safe>{` by ${actor}: ${[reason, filter, dealId].filter(Boolean).join(' · ')}`}</span>
    </p>
  )
}

function Stays({ why }: { readonly why: string }): JSX.Element {
  return <p safe>{`It stays: ${why}.`}</p>
}
