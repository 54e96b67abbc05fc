/** What is done to messages that were set aside: taken in after all, or discarded for good. */

import { AppError } from '../../../errors.js'
import {
  discardParkedMessages,
  retryParkedMessages,
  type ParkedMessagesCommand,
  type ParkedMessagesResult,
} from '../../../operations/act-on-parked-messages.js'
import { allParkedMessages } from '../../../operations/parked-messages.js'
import { readUuids } from '../../../operations/read-input.js'
import { probeDatabase } from '../../../postgres/probe.js'
import { atOnceAtMost } from '../../api/bulk-targets.js'
import { abandoned } from '../../api/time-limit.js'
import { addAction, refuseStopped } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { safeNext } from '../next-path.js'
import type { Notice } from '../notice.js'
import { Targets } from '../parts/targets.js'
import { ofThem } from '../parts/text.js'
import { all, one, type Values } from '../values.js'

const path = '/deck/intake'

interface IntakeAction {
  readonly name: 'retry' | 'discard'
  readonly title: string
  readonly effect: string
  readonly done: string
  readonly run: (command: ParkedMessagesCommand) => Promise<ParkedMessagesResult>
}

export function addIntakeActions(app: DeckServer, deck: DeckContext): void {
  const { db, operator, config } = deck
  const retry: IntakeAction = {
    name: 'retry',
    title: 'Take in',
    effect:
      'Their deals get their chats as if they came now. Those that go wrong again stay set aside.',
    done: 'taken in',
    run: (command) =>
      retryParkedMessages(
        {
          ...{ db, topic: operator.topic, provisioning: operator.provisioning },
          probe: () => probeDatabase(config.database.url, 'chat-provision-retry api probe'),
          random: Math.random,
        },
        command,
      ),
  }
  addChosen(app, deck, retry)
  addAll(app, deck, retry)
  addChosen(app, deck, {
    name: 'discard',
    title: 'Discard',
    effect: 'They are deleted for good: their deals get no chat by them.',
    done: 'discarded',
    run: (command) => discardParkedMessages(db, command),
  })
}

interface Chosen {
  readonly messageIds: readonly string[]
  readonly back: string
}

function chosenOf(values: Values): Chosen {
  const messageIds = readUuids('a message id', all(values, 'message'))
  if (messageIds.length === 0)
    throw new AppError('INPUT_INVALID', 'No message was chosen. Go back and choose some.')
  return { messageIds, back: safeNext(one(values, 'back') ?? path) }
}

function addChosen(app: DeckServer, deck: DeckContext, action: IntakeAction): void {
  const { name, title, effect, run } = action
  addAction<Chosen>(app, deck, {
    path: `/intake/${name}`,
    section: 'intake',
    ...{ title, effect },
    repeated: ['message'],
    read: chosenOf,
    view: async ({ messageIds }) => {
      const seen = await run({ messageIds, order: 'dry run' })
      return {
        preview: () => <Preview {...{ action, messageIds, seen }} />,
        // It can't be taken back.
        ...(name === 'discard' && { typed: String(messageIds.length) }),
        isVoid: seen.affected === 0,
      }
    },
    carryOut: async ({ messageIds }, order, request) =>
      noticeOf(action, await run({ messageIds, order, signal: abandoned(request) })),
    back: ({ back }) => back,
  })
}

/** The oldest first, as many as a request has time for. */
function addAll(app: DeckServer, deck: DeckContext, action: IntakeAction): void {
  const { db } = deck
  const { name, title, effect, run } = action
  addAction<null>(app, deck, {
    path: `/intake/all/${name}`,
    section: 'intake',
    title: `${title} all`,
    effect,
    read: () => null,
    view: async () => {
      const messageIds = await allParkedMessages(db)
      const seen = await run({ messageIds: messageIds.slice(0, atOnceAtMost), order: 'dry run' })
      return {
        preview: () => <Preview {...{ action, messageIds, seen }} />,
        typed: String(seen.affected),
        ...(messageIds.length > atOnceAtMost && { ofAll: messageIds.length }),
        isVoid: seen.affected === 0,
      }
    },
    carryOut: async (_all, order, request) => {
      const messageIds = (await allParkedMessages(db)).slice(0, atOnceAtMost)
      return noticeOf(action, await run({ messageIds, order, signal: abandoned(request) }))
    },
    back: () => path,
  })
}

/** @throws AppError where nothing came of it, or it was ended early */
function noticeOf({ done }: IntakeAction, result: ParkedMessagesResult): Notice {
  refuseStopped(result)
  const { affected, refused } = result
  const [first] = refused
  if (affected === 0) {
    throw new AppError('USAGE', `Nothing was done: ${first?.why ?? 'none is set aside any more'}.`)
  }
  const parts = [
    `${ofThem(affected, 'message')} ${done}.`,
    first && `${ofThem(refused.length, 'message')} refused: ${first.why}.`,
  ]
  return {
    tone: refused.length > 0 ? 'warn' : 'good',
    text: parts.filter((part) => typeof part === 'string').join(' '),
  }
}

function Preview(props: {
  readonly action: IntakeAction
  readonly messageIds: readonly string[]
  readonly seen: ParkedMessagesResult
}): JSX.Element {
  const { action, messageIds, seen } = props
  const { affected, refused } = seen
  const rest = messageIds.length - affected - refused.length
  return (
    <>
      <p>
        <strong safe>{ofThem(affected, 'message')}</strong>
        <span safe>
          {` would be ${action.done}` +
            (refused.length > 0 ? `, ${ofThem(refused.length, 'message')} would not` : '') +
            (rest > 0 ? `; the other ${rest} in a further go.` : '.')}
        </span>
      </p>
      <Targets
        path={path}
        ids={messageIds.slice(0, affected + refused.length)}
        whyNot={new Map(refused.map(({ messageId, why }) => [messageId, why]))}
      />
    </>
  )
}
