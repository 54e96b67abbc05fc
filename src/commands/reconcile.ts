/** `provisions reconcile`: names what disagrees between deals, chats and events, and mends on request. */

import type { Command } from 'commander'
import type { Config } from '../config/config.js'
import type { Environment } from '../config/read-options.js'
import type { Kysely } from 'kysely'
import { AppError } from '../errors.js'
import { referenceChatView } from '../operations/chat-view.js'
import type { ReconcileContext } from '../operations/mend-deal.js'
import type { Targets } from '../operations/provision-command.js'
import {
  isEmptyFilter,
  readProvisionFilter,
  type ProvisionFilterInput,
} from '../operations/provision-filter.js'
import { readUuids } from '../operations/read-input.js'
import {
  reconcileProvisions,
  type Finding,
  type ReconcileCommand,
  type ReconcileResult,
} from '../operations/reconcile-provisions.js'
import type { Database } from '../postgres/schema.js'
import { createProvisionContext } from '../provisioning/provision-context.js'
import { referenceChats } from '../provisioning/reference-chats.js'
import { confirmMany } from './confirm.js'
import type { SetExitCode } from './exit-code.js'
import {
  orderOf,
  withExamples,
  withFilter,
  withOrder,
  type ChangeOptions,
} from './operator-options.js'
import { printJson, printLine, printTable } from './output.js'
import { untilSignalled } from './until-signalled.js'
import { withDatabase } from './with-database.js'

type ReconcileOptions = ProvisionFilterInput & ChangeOptions & { readonly mend?: true }

export function addReconcile(
  provisions: Command,
  environment: Environment,
  exit: SetExitCode,
): void {
  withExamples(
    withOrder(
      withFilter(provisions.command('reconcile [deal-ids...]')).option(
        '--mend',
        'mend what can be',
      ),
    ),
    'provisions reconcile',
    'provisions reconcile --status Ready --mend --by anna --reason "after the restore"',
  )
    .description('find what disagrees between deals, chats and events; without filter: everywhere')
    .action(async (dealIds: string[], options: ReconcileOptions) =>
      exit(await reconcile(environment, dealIds, options)),
    )
}

async function reconcile(
  environment: Environment,
  dealIds: readonly string[],
  options: ReconcileOptions,
): Promise<0 | 1> {
  const targets = readTargets(dealIds, options)
  const mend = options.mend === true ? orderOf(options) : undefined
  return withDatabase(environment, 'checked', async (db, config) => {
    const context = createContext(db, config)
    const command: ReconcileCommand = { targets, mend, signal: untilSignalled() }
    if (mend !== undefined && mend !== 'dry run' && options.yes !== true) {
      const { findings } = await collect(context, { ...command, mend: undefined })
      await confirmMany(new Set(findings.map(({ dealId }) => dealId)).size, 'mend', 'deal')
    }
    const { findings, result } = await collect(context, command)
    if (options.json) await printJson(findings)
    else await printFindings(findings, result)
    return result.refused.length === 0 && !result.stopped ? 0 : 1
  })
}

function readTargets(dealIds: readonly string[], options: ProvisionFilterInput): Targets {
  const filter = readProvisionFilter(options)
  if (dealIds.length === 0) return { filter }
  if (isEmptyFilter(filter)) return { dealIds: readUuids('a deal id', dealIds) }
  throw new AppError('USAGE', 'Give either DEAL_ID… or a filter, not both.')
}

function createContext(db: Kysely<Database>, config: Config): ReconcileContext {
  return {
    db,
    topic: config.outbox.topic,
    maxAttempts: config.retry.maxAttempts,
    eventRetentionMs: config.outbox.retentionMs,
    chatView: referenceChatView,
    provisioning: createProvisionContext(referenceChats, config.retry.participantRoles),
  }
}

async function collect(
  context: ReconcileContext,
  command: ReconcileCommand,
): Promise<{ findings: Finding[]; result: ReconcileResult }> {
  const findings: Finding[] = []
  const result = await reconcileProvisions(context, command, (finding) => findings.push(finding))
  return { findings, result }
}

/** One line for each finding, then what the kinds that were met mean. */
async function printFindings(
  findings: readonly Finding[],
  { examined, affected, refused, stopped }: ReconcileResult,
): Promise<void> {
  if (findings.length > 0) {
    await printTable(
      ['deal', 'finding', 'detail', 'outcome'],
      findings.map(({ dealId, finding, detail, outcome, why }) => [
        dealId,
        finding,
        detail,
        why === null ? outcome : `${outcome}: ${why}`,
      ]),
      ['deal', 'finding'],
    )
    const kinds = new Map(findings.map((finding) => [finding.finding, finding]))
    await printLine('')
    for (const { finding, about, todo } of kinds.values())
      await printLine(`${finding}: ${about};\n  ${todo}`)
  }
  // A deal without a row has no finding.
  for (const { dealId, why } of refused)
    if (!findings.some((finding) => finding.dealId === dealId))
      await printLine(`refused ${dealId}: ${why}`)
  await printLine(
    `${examined} ${examined === 1 ? 'deal' : 'deals'} examined, ` +
      `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}, ${affected} mended`,
  )
  if (stopped) await printLine('stopped; the same command goes on from there')
}
