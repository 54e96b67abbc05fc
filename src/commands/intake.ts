/** `intake list|show|retry|discard`: looks at the messages of crm that were set aside, and acts on them. */

import type { Command } from 'commander'
import type { Config } from '../config/config.js'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import type { TakeInContext } from '../intake/take-in-deal.js'
import { discardParkedMessages, retryParkedMessages } from '../operations/act-on-parked-messages.js'
import {
  allParkedMessages,
  findParkedMessage,
  listParkedMessages,
} from '../operations/parked-messages.js'
import { readUuid, readUuids } from '../operations/read-input.js'
import { probeDatabase } from '../postgres/probe.js'
import { readAsOf } from '../provisioning/candidates.js'
import { createProvisionContext } from '../provisioning/provision-context.js'
import { referenceChats } from '../provisioning/reference-chats.js'
import { ageText } from './age.js'
import { carryOut } from './carry-out.js'
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
import { printFields, printJson, printLine } from './output.js'
import { withDatabase } from './with-database.js'

export function addIntake(program: Command, environment: Environment, exit: SetExitCode): void {
  const intake = program
    .command('intake')
    .description("look at crm's messages that were set aside (INTAKE_ENABLED), and act on them")

  withExamples(withPage(intake.command('list')), 'intake list --limit 20')
    .description('the messages that could not be taken in, and why; newest first')
    .action((options: PageOptions) => list(environment, options))

  withExamples(
    intake
      .command('show <message-id>')
      .option('--value', 'print what crm wrote instead: it may hold titles and members'),
    'intake show MESSAGE_ID',
    'intake show MESSAGE_ID --value',
  )
    .description('one message: where it stood and why it was set aside')
    .option('--json', 'print as JSON')
    .action((id: string, options: ShowOptions) => show(environment, id, options))

  withExamples(
    withOrder(intake.command('retry [message-ids...]').option('--all', 'all that are set aside')),
    'intake retry --all --dry-run',
    'intake retry MESSAGE_ID --by anna --reason "this version reads it"',
  )
    .description('take messages in after all; those that go wrong again stay')
    .action(async (ids: string[], options: RetryOptions) =>
      exit(await retry(environment, ids, options)),
    )

  withExamples(
    withOrder(intake.command('discard <message-ids...>')),
    'intake discard MESSAGE_ID --by anna --reason "crm has sent the deal anew"',
  )
    .description('delete messages for good; their deals get no chat by them')
    .action(async (ids: string[], options: ChangeOptions) =>
      exit(await discard(environment, ids, options)),
    )
}

async function list(environment: Environment, options: PageOptions): Promise<void> {
  const { page, now } = await withDatabase(environment, 'checked', async (db) => ({
    page: await listParkedMessages(db, options),
    now: await readAsOf(db),
  }))
  await printPage(page, options, {
    columns: ['message', 'age', 'part', 'offset', 'bytes', 'reason'],
    whole: ['message'],
    row: ({ id, parkedAt, partition, offset, bytes, reason }) => [
      id,
      ageText(parkedAt, now),
      partition,
      offset,
      bytes,
      reason,
    ],
    empty: 'No messages are set aside.',
  })
}

type ShowOptions = OutputOptions & { readonly value?: true }

async function show(environment: Environment, text: string, options: ShowOptions): Promise<void> {
  const id = readUuid('a message id', text)
  const found = await withDatabase(environment, 'checked', (db) => findParkedMessage(db, id))
  if (found === undefined) {
    throw new AppError('NOT_FOUND', `There is no message ${id}: it was dealt with already.`)
  }
  const { value, ...fields } = found
  if (options.value) await printLine(value?.toString() ?? '')
  else await (options.json ? printJson(fields) : printFields(fields))
}

type RetryOptions = ChangeOptions & { readonly all?: true }

async function retry(
  environment: Environment,
  texts: readonly string[],
  options: RetryOptions,
): Promise<0 | 1> {
  if (texts.length > 0 === (options.all === true)) {
    throw new AppError('USAGE', 'Give either MESSAGE_ID… or --all, not both and not neither.')
  }
  const given = readUuids('a message id', texts)
  const order = orderOf(options)
  return withDatabase(environment, 'checked', async (db, config) => {
    const messageIds = options.all === true ? await allParkedMessages(db) : given
    return carryOut(
      {
        verb: 'take in',
        done: 'taken in',
        noun: 'message',
        count: () => Promise.resolve(messageIds.length),
        run: (limits) =>
          retryParkedMessages(contextOf(db, config), { messageIds, order, ...limits }),
      },
      options,
    )
  })
}

function contextOf(db: TakeInContext['db'], config: Config): Omit<TakeInContext, 'mayGoOn'> {
  return {
    db,
    topic: config.outbox.topic,
    provisioning: createProvisionContext(referenceChats, config.retry.participantRoles),
    probe: () => probeDatabase(config.database.url, 'chat-provision-retry command probe'),
    random: Math.random,
  }
}

async function discard(
  environment: Environment,
  texts: readonly string[],
  options: ChangeOptions,
): Promise<0 | 1> {
  const messageIds = readUuids('a message id', texts)
  const order = orderOf(options)
  return withDatabase(environment, 'checked', (db) =>
    carryOut(
      {
        verb: 'discard',
        done: 'discarded',
        noun: 'message',
        count: () => Promise.resolve(messageIds.length),
        run: (limits) => discardParkedMessages(db, { messageIds, order, ...limits }),
      },
      options,
    ),
  )
}
