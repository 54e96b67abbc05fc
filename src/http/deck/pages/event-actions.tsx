/** Events replayed or skipped: one, the chosen, or the parked ones that a filter means. */

import type { FastifyRequest } from 'fastify'
import { AppError } from '../../../errors.js'
import {
  findParkedEvents,
  replayEvents,
  skipEvents,
  type EventsResult,
} from '../../../operations/act-on-events.js'
import { readUuid, readUuids } from '../../../operations/read-input.js'
import { atOnceAtMost } from '../../api/bulk-targets.js'
import { abandoned } from '../../api/time-limit.js'
import { addAction, refuseStopped, type Action } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { safeNext } from '../next-path.js'
import type { Notice } from '../notice.js'
import { undoHref } from '../parts/audit-table.js'
import { Targets } from '../parts/targets.js'
import { countText, ofThem } from '../parts/text.js'
import { all, one, queryOf, type Values } from '../values.js'

const path = '/deck/outbox'

const actions = [
  {
    ...{ name: 'replay', title: 'Replay', act: replayEvents },
    ...{ ofOne: 'goes out again, from now', ofSeveral: 'go out again, from now' },
    effect: 'All sends again, from now.',
  },
  {
    ...{ name: 'skip', title: 'Skip', act: skipEvents },
    ...{ ofOne: 'is skipped', ofSeveral: 'are skipped' },
    effect:
      'Nothing goes out: crm never hears it, and later events of the deal no longer wait for it.',
  },
] as const

type EventAction = (typeof actions)[number]

/** @throws AppError INPUT_INVALID */
export function eventIdOf({ params }: Pick<FastifyRequest, 'params'>): string {
  return readUuid('an event id', (params as { readonly id: string }).id)
}

const filterNames = ['dealId', 'error'] as const

function filterOf(values: Values) {
  return { dealId: one(values, 'dealId'), error: one(values, 'error') }
}

export function EventBulkLinks({ values }: { readonly values: Values }): JSX.Element {
  const narrowed = Object.fromEntries(filterNames.map((name) => [name, one(values, name)]))
  return (
    <p class="buttons">
      {actions.map(({ name, title }) => (
        <a href={`${path}/all/${name}${queryOf(narrowed)}`} safe>
          {`${title} all of these…`}
        </a>
      ))}
    </p>
  )
}

interface Subject {
  readonly eventIds: readonly string[]
  readonly back: string
}

export function addEventActions(app: DeckServer, deck: DeckContext): void {
  for (const action of actions) {
    addGiven(app, deck, action, {
      path: `/outbox/:id/${action.name}`,
      read: (_values, request) => {
        const id = eventIdOf(request)
        return { eventIds: [id], back: `${path}/${id}` }
      },
    })
    addGiven(app, deck, action, {
      path: `/outbox/${action.name}`,
      read: (values) => {
        const eventIds = readUuids('an event id', all(values, 'event'))
        if (eventIds.length === 0)
          throw new AppError('INPUT_INVALID', 'No event was chosen. Go back and choose some.')
        return { eventIds, back: safeNext(one(values, 'back') ?? path) }
      },
    })
    addAll(app, deck, action)
  }
}

function contextOf({ db, operator, config }: DeckContext) {
  const { onEventWritten } = operator
  return { db, relay: config.outbox.relay, ...(onEventWritten && { onEventWritten }) }
}

function addGiven(
  app: DeckServer,
  deck: DeckContext,
  action: EventAction,
  { path: actionPath, read }: Pick<Action<Subject>, 'path' | 'read'>,
): void {
  const { title, effect, act } = action
  const context = contextOf(deck)
  addAction<Subject>(app, deck, {
    path: actionPath,
    section: 'outbox',
    ...{ title, effect, read, repeated: ['event'] },
    view: async ({ eventIds }) => {
      const { affected, refused } = await act(context, {
        ...{ targets: { eventIds }, order: 'dry run', atMost: atOnceAtMost },
      })
      const whyNot = new Map(refused.map(({ eventId, why }) => [eventId, why]))
      return {
        preview: () => <Targets path={path} ids={eventIds} whyNot={whyNot} />,
        isVoid: affected === 0,
      }
    },
    carryOut: async ({ eventIds, back }, order, request) => {
      const targets = { eventIds }
      const signal = abandoned(request)
      const done = await act(context, { targets, order, signal, atMost: atOnceAtMost })
      return noticeOf(action, done, back)
    },
    back: ({ back }) => back,
  })
}

interface Filtered {
  readonly filter: ReturnType<typeof filterOf>
  readonly back: string
}

/** The oldest first, as many as a request has time for. */
function addAll(app: DeckServer, deck: DeckContext, action: EventAction): void {
  const { name, title, effect, act } = action
  const { db } = deck
  const context = contextOf(deck)
  addAction<Filtered>(app, deck, {
    path: `/outbox/all/${name}`,
    section: 'outbox',
    title: `${title} all`,
    effect,
    read: (values) => {
      const filter = filterOf(values)
      return { filter, back: `${path}${queryOf({ state: 'parked', ...filter })}` }
    },
    view: async ({ filter }) => {
      const { eventIds, matched } = await findParkedEvents(db, filter, atOnceAtMost)
      const rest =
        matched > eventIds.length
          ? `: the oldest of ${countText(matched)}, for ${atOnceAtMost} are done at once.`
          : eventIds.length > 1
            ? ', the oldest first.'
            : '.'
      return {
        preview: () => (
          <>
            <p>
              <strong safe>{ofThem(eventIds.length, 'parked event')}</strong>
              <span safe>{rest}</span>
            </p>
            <Targets path={path} ids={eventIds} whyNot={new Map()} />
          </>
        ),
        typed: String(eventIds.length),
        ...(matched > eventIds.length && { ofAll: matched }),
        isVoid: eventIds.length === 0,
      }
    },
    carryOut: async ({ filter, back }, order, request) => {
      const { eventIds } = await findParkedEvents(db, filter, atOnceAtMost)
      const targets = { eventIds }
      const signal = abandoned(request)
      return noticeOf(action, await act(context, { targets, order, signal }), back)
    },
    back: ({ back }) => back,
  })
}

/** @throws AppError where nothing came of it, or it was ended early */
function noticeOf(action: EventAction, done: EventsResult, back: string): Notice {
  refuseStopped(done)
  const { name, ofOne, ofSeveral } = action
  const { affected, refused, auditId } = done
  const [no] = refused
  if (affected === 0) {
    throw new AppError('USAGE', `Nothing was done: ${no?.why ?? 'none is parked any more'}.`)
  }
  const parts = [
    affected === 1 ? `The event ${ofOne}.` : `${ofThem(affected, 'event')} ${ofSeveral}.`,
    no && `${ofThem(refused.length, 'event')} refused: ${no.why}.`,
  ]
  const notice: Notice = {
    tone: refused.length > 0 ? 'warn' : 'good',
    text: parts.filter((part) => typeof part === 'string').join(' '),
  }
  if (name !== 'skip' || auditId === null) return notice
  return { ...notice, link: { href: undoHref(auditId, back), text: 'Take it back' } }
}
