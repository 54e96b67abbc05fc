/** `provisions list|show|requeue|reemit`: looks at provisions and acts on them. */

import type { Command } from 'commander'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import { referenceChatView } from '../operations/chat-view.js'
import { listProvisions, type ProvisionLine } from '../operations/list-provisions.js'
import type { OperatorContext, Targets } from '../operations/provision-command.js'
import { readProvisionFilter, type ProvisionFilterInput } from '../operations/provision-filter.js'
import { nextStep } from '../operations/next-step.js'
import { readTitles } from '../operations/provision-titles.js'
import { readUuid } from '../operations/read-input.js'
import { countReemit, reemitProvisions } from '../operations/reemit-provisions.js'
import { countRequeue, requeueProvisions } from '../operations/requeue-provisions.js'
import { showProvision } from '../operations/show-provision.js'
import { readAsOf } from '../provisioning/candidates.js'
import { ageText, durationText, untilText } from './age.js'
import { carryOut, type Change } from './carry-out.js'
import type { SetExitCode } from './exit-code.js'
import { printPage } from './list-page.js'
import {
  orderOf,
  targetsOf,
  withExamples,
  withFilter,
  withOrder,
  withPage,
  type ChangeOptions,
  type OutputOptions,
  type PageOptions,
} from './operator-options.js'
import { printFields, printJson, printLine, printTable } from './output.js'
import { addReconcile } from './reconcile.js'
import { withDatabase } from './with-database.js'

export function addProvisions(program: Command, environment: Environment, exit: SetExitCode): void {
  const provisions = program
    .command('provisions')
    .description('look at provisions, and act on those that need a hand')

  withExamples(
    withPage(withFilter(provisions.command('list'))),
    'provisions list --poison',
    'provisions list --status Failed --error guard: --older-than 2h',
  )
    .description('the provisions that changed last')
    .action((options: ProvisionFilterInput & PageOptions) => list(environment, options))

  withExamples(provisions.command('show <deal-id>'), 'provisions show DEAL_ID')
    .description('one deal: its row, chat, participants, events and audit')
    .option('--json', 'print as JSON')
    .action((dealId: string, options: OutputOptions) => show(environment, dealId, options))

  withExamples(
    withOrder(withFilter(provisions.command('requeue [deal-ids...]'))),
    'provisions requeue DEAL_ID --by anna --reason "title mended"',
    'provisions requeue --poison --error guard:ROLE_UNKNOWN --dry-run',
  )
    .description('attempts = 0 and due now; after the cause was mended')
    .action(async (dealIds: string[], options: ActOptions) =>
      exit(await act(environment, dealIds, options, requeue)),
    )

  withExamples(
    withOrder(withFilter(provisions.command('reemit [deal-ids...]'))),
    'provisions reemit DEAL_ID --by anna --reason "crm lost it"',
    'provisions reemit --status Ready --older-than 3d --by anna --reason "crm was restored" --yes',
  )
    .description('tell crm once more how the deals stand now')
    .action(async (dealIds: string[], options: ActOptions) =>
      exit(await act(environment, dealIds, options, reemit)),
    )

  addReconcile(provisions, environment, exit)
}

async function list(
  environment: Environment,
  options: ProvisionFilterInput & PageOptions,
): Promise<void> {
  const filter = readProvisionFilter(options)
  const { limit, cursor } = options
  const { page, now, maxAttempts } = await withDatabase(
    environment,
    'checked',
    async (db, config) => {
      const { maxAttempts } = config.retry
      const now = await readAsOf(db)
      return {
        page: await listProvisions(db, { filter, maxAttempts, limit, cursor }),
        now,
        maxAttempts,
      }
    },
  )
  const due = (item: ProvisionLine): string =>
    isOver(item, maxAttempts) ? '-' : untilText(item.nextAttemptAt, now)
  await printPage(page, options, {
    columns: ['deal', 'status', 'tries', 'last error', 'due', 'age'],
    whole: ['deal', 'status'],
    row: (item) => [
      item.dealId,
      item.status,
      item.attempts,
      item.lastError,
      due(item),
      ageText(item.createdAt, now),
    ],
    empty: 'No provisions match.',
  })
}

/** What the row says of its next attempt means nothing. */
function isOver({ status, attempts }: ProvisionLine, maxAttempts: number): boolean {
  return status === 'Ready' || attempts >= maxAttempts
}

async function show(
  environment: Environment,
  dealId: string,
  options: OutputOptions,
): Promise<void> {
  const id = readUuid('a deal id', dealId)
  const { detail, title, now, retry } = await withDatabase(
    environment,
    'checked',
    async (db, { retry }) => ({
      detail: await showProvision(db, referenceChatView, id),
      title: (await readTitles(db, [id])).get(id),
      now: await readAsOf(db),
      retry,
    }),
  )
  if (detail === undefined) {
    throw new AppError(
      'NOT_FOUND',
      `There is no provision for deal ${id}. Did the deal-created consumer see the deal?`,
    )
  }
  if (options.json) return printJson(detail)
  const { events, audit, chats, failedAttempts, ...fields } = detail
  const chatText = chats.map((chat) => `${chat.id} (${chat.kind}, ${chat.status})`).join(', ')
  await printLine(nextStep(detail, retry, Date.parse(now)) + '\n')
  const { dealId: deal, nextAttemptAt, ...others } = fields
  await printFields({
    dealId: deal,
    title,
    ...others,
    nextAttemptAt: isOver(detail, retry.maxAttempts) ? null : nextAttemptAt,
    chats: chatText === '' ? null : chatText,
  })
  if (failedAttempts.length > 0) {
    await printLine('\nfailed attempts')
    await printTable(
      ['attempt', 'failed at', 'took', 'error', 'next from'],
      failedAttempts.map(({ attempt, failedAt, durationMs, error, nextAttemptAt }) => [
        attempt,
        failedAt.slice(0, 19),
        durationMs === null ? null : durationText(durationMs),
        error,
        nextAttemptAt.slice(0, 19),
      ]),
      ['attempt', 'error'],
    )
  }
  if (events.length > 0) {
    await printLine('\nevents')
    await printTable(
      ['seq', 'says', 'state', 'age', 'event'],
      events.map(({ seq, status, state, occurredAt, id }) => [
        seq,
        status,
        state,
        ageText(occurredAt, now),
        id,
      ]),
      ['seq', 'says', 'state', 'event'],
    )
  }
  if (audit.length > 0) {
    await printLine('\naudit')
    await printTable(
      ['at', 'by', 'action', 'why', 'chosen by'],
      audit.map(({ at, actor, action, reason, filter }) => [
        at.slice(0, 19),
        actor,
        action,
        reason,
        filter,
      ]),
      ['at', 'action'],
    )
  }
}

type ActOptions = ProvisionFilterInput & ChangeOptions

interface Act extends Pick<Change, 'verb' | 'done'> {
  readonly count: (context: OperatorContext, targets: Targets) => Promise<number>
  readonly run: typeof requeueProvisions
}

const requeue: Act = {
  verb: 're-enqueue',
  done: 're-enqueued',
  count: countRequeue,
  run: requeueProvisions,
}
const reemit: Act = {
  verb: 're-emit',
  done: 're-emitted',
  count: countReemit,
  run: reemitProvisions,
}

async function act(
  environment: Environment,
  dealIds: readonly string[],
  options: ActOptions,
  { verb, done, count, run }: Act,
): Promise<0 | 1> {
  const targets = targetsOf(dealIds, options)
  const order = orderOf(options)
  return withDatabase(environment, 'checked', (db, config) => {
    const context = { db, topic: config.outbox.topic, maxAttempts: config.retry.maxAttempts }
    const change: Change = {
      verb,
      done,
      noun: 'deal',
      count: () => count(context, targets),
      run: (limits) => run(context, { targets, order, ...limits }),
    }
    return carryOut(change, options)
  })
}
