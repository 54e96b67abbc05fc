/** `outbox status|list|show|replay|skip`: looks at the events on their way to crm, and acts on them. */

import type { Command } from 'commander'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import {
  countEvents,
  replayEvents,
  skipEvents,
  type EventTargets,
} from '../operations/act-on-events.js'
import { readEventState, type EventState } from '../operations/event-state.js'
import { listEvents } from '../operations/list-events.js'
import { outboxStatus } from '../operations/outbox-status.js'
import { readUuid, readUuids } from '../operations/read-input.js'
import { showEvent } from '../operations/show-event.js'
import { readAsOf } from '../provisioning/candidates.js'
import { ageText, durationText } from './age.js'
import { carryOut, type Change } from './carry-out.js'
import type { SetExitCode } from './exit-code.js'
import { printPage } from './list-page.js'
import {
  orderOf,
  withExamples,
  withOrder,
  withPage,
  type ChangeOptions,
  type OutputOptions,
  type PageOptions,
} from './operator-options.js'
import { printFields, printJson, printLine, printTable } from './output.js'
import { withDatabase } from './with-database.js'

export function addOutbox(program: Command, environment: Environment, exit: SetExitCode): void {
  const outbox = program
    .command('outbox')
    .description('look at the events on their way to crm, and act on those that are stuck')

  withExamples(outbox.command('status'), 'outbox status')
    .description('what waits and for how long, what is parked, what went out lately')
    .option('--json', 'print as JSON')
    .action((options: OutputOptions) => status(environment, options))

  withExamples(
    withPage(
      outbox
        .command('list')
        .option('--parked', 'those that failed too often and wait for an operator')
        .option('--pending', 'those that are to go out')
        .option('--state <state>', 'pending, parked, published, superseded or skipped')
        .option('--deal <deal-id>', 'of one deal'),
    ),
    'outbox list --parked',
    'outbox list --deal DEAL_ID',
  )
    .description('the events, newest first')
    .action((options: ListOptions) => list(environment, options))

  withExamples(outbox.command('show <event-id>'), 'outbox show EVENT_ID')
    .description('one event: what it says, its sends, what operators did to it')
    .option('--json', 'print as JSON')
    .action((eventId: string, options: OutputOptions) => show(environment, eventId, options))

  withExamples(
    withOrder(
      outbox
        .command('replay [event-ids...]')
        .option('--parked', 'all that are parked and have no newer event of their deal'),
    ),
    'outbox replay EVENT_ID --by anna --reason "topic limit raised"',
    'outbox replay --parked --dry-run',
  )
    .description('give parked events all their sends again, from now')
    .action(async (eventIds: string[], options: ReplayOptions) =>
      exit(await replay(environment, eventIds, options)),
    )

  withExamples(
    withOrder(outbox.command('skip <event-ids...>')),
    'outbox skip EVENT_ID --by anna --reason "says what is not so"',
  )
    .description('take unpublished events out for good; their deals go on without them')
    .action(async (eventIds: string[], options: ChangeOptions) =>
      exit(await skip(environment, eventIds, options)),
    )
}

async function status(environment: Environment, options: OutputOptions): Promise<void> {
  const found = await withDatabase(environment, 'checked', (db, config) =>
    outboxStatus(db, config.outbox.relay),
  )
  if (options.json) return printJson(found)
  const { backlogByAge, publishLagSeconds, slots, ...fields } = found
  const lag = publishLagSeconds === null ? null : durationText(publishLagSeconds * 1_000)
  await printFields({ ...fields, lag })
  if (backlogByAge !== null && fields.backlog !== 0) {
    await printLine('\nbacklog by age')
    await printTable(
      ['waits', 'events'],
      backlogByAge.map(({ age, events }) => [age, events]),
    )
  }
  if (slots !== null && slots.length === 0)
    await printLine('\nThere is no replication slot, so nothing relays the outbox.')
  else if (slots !== null) {
    await printLine('\nreplication slots')
    await printTable(
      ['slot', 'active', 'wal', 'lag bytes'],
      slots.map(({ name, active, walStatus, lagBytes }) => [name, active, walStatus, lagBytes]),
    )
  }
}

interface ListOptions extends PageOptions {
  readonly parked?: true
  readonly pending?: true
  readonly state?: string
  readonly deal?: string
}

async function list(environment: Environment, options: ListOptions): Promise<void> {
  const { limit, cursor } = options
  const state = stateOf(options)
  const dealId = options.deal === undefined ? undefined : readUuid('a deal id', options.deal)
  const { page, now } = await withDatabase(environment, 'checked', async (db) => ({
    page: await listEvents(db, { state, dealId, limit, cursor }),
    now: await readAsOf(db),
  }))
  // Of one deal it is told what each says; of many, whose it is: both at once fit no terminal.
  const isOfOneDeal = dealId !== undefined
  await printPage(page, options, {
    columns: ['event', 'state', 'tries', 'age', isOfOneDeal ? 'says' : 'deal', 'last error'],
    whole: ['event', 'state'],
    row: (event) => [
      event.id,
      event.state,
      event.attempts,
      ageText(event.occurredAt, now),
      isOfOneDeal ? event.status : event.dealId,
      event.lastError,
    ],
    empty: 'No events match.',
  })
}

function stateOf({ parked, pending, state }: ListOptions): EventState | undefined {
  const named = [
    ...(parked === true ? ['parked'] : []),
    ...(pending === true ? ['pending'] : []),
    ...(state === undefined ? [] : [state]),
  ].map(readEventState)
  if (new Set(named).size <= 1) return named[0]
  throw new AppError('USAGE', `An event is in one state only: give one of ${named.join(' and ')}.`)
}

async function show(
  environment: Environment,
  eventId: string,
  options: OutputOptions,
): Promise<void> {
  const id = readUuid('an event id', eventId)
  const detail = await withDatabase(environment, 'checked', (db) => showEvent(db, id))
  if (detail === undefined) {
    throw new AppError(
      'NOT_FOUND',
      `There is no event ${id}. Settled ones are deleted after OUTBOX_RETENTION.`,
    )
  }
  if (options.json) return printJson(detail)
  const { audit, ...fields } = detail
  await printFields(fields)
  if (audit.length === 0) return
  await printLine('\naudit')
  await printTable(
    ['at', 'by', 'action', 'why'],
    audit.map(({ at, actor, action, reason }) => [at, actor, action, reason]),
    ['at', 'action'],
  )
}

type ReplayOptions = ChangeOptions & { readonly parked?: true }

async function replay(
  environment: Environment,
  eventIds: readonly string[],
  options: ReplayOptions,
): Promise<0 | 1> {
  if (eventIds.length > 0 === (options.parked === true)) {
    throw new AppError('USAGE', 'Give either EVENT_ID… or --parked, not both and not neither.')
  }
  const targets: EventTargets =
    eventIds.length > 0 ? { eventIds: readUuids('an event id', eventIds) } : 'parked'
  const order = orderOf(options)
  return withDatabase(environment, 'checked', (db, config) => {
    const context = { db, relay: config.outbox.relay }
    const change: Change = {
      verb: 'replay',
      done: 'replayed',
      noun: 'event',
      count: () => countEvents(db, targets),
      run: (limits) => replayEvents(context, { targets, order, ...limits }),
    }
    return carryOut(change, options)
  })
}

async function skip(
  environment: Environment,
  texts: readonly string[],
  options: ChangeOptions,
): Promise<0 | 1> {
  const eventIds = readUuids('an event id', texts)
  const order = orderOf(options)
  return withDatabase(environment, 'checked', (db, config) => {
    const context = { db, relay: config.outbox.relay }
    const change: Change = {
      verb: 'skip',
      done: 'skipped',
      noun: 'event',
      count: () => Promise.resolve(eventIds.length),
      run: (limits) => skipEvents(context, { targets: { eventIds }, order, ...limits }),
    }
    return carryOut(change, options)
  })
}
