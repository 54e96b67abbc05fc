/** `provisions list|show|requeue`: talks to the database, so that it works with the service down. */

import { AppError } from '../errors.js'
import type { Environment } from '../config/read-options.js'
import type { ProvisionStatus } from '../postgres/schema.js'
import { listProvisions, showProvision } from '../provisioning/read-provisions.js'
import { findPoison, requeueDeals } from '../provisioning/requeue.js'
import { confirmMany } from './confirm.js'
import { printFields, printJson, printLine, printTable } from './output.js'
import { withDatabase } from './with-database.js'

interface ListOptions {
  readonly poison?: true
  readonly status?: ProvisionStatus
  readonly limit: number
  readonly json?: true
}

export async function listCommand(environment: Environment, options: ListOptions): Promise<void> {
  const rows = await withDatabase(environment, 'checked', (db, config) =>
    listProvisions(
      db,
      { poison: options.poison === true, status: options.status, limit: options.limit },
      config.retry.maxAttempts,
    ),
  )
  if (options.json) return printJson(rows)
  if (rows.length === 0) return printLine('No provisions match.')
  await printTable(
    ['deal', 'status', 'attempts', 'last error', 'next attempt', 'updated'],
    rows.map((row) => [
      row.dealId,
      row.status,
      row.attempts,
      row.lastError,
      row.nextAttemptAt,
      row.updatedAt,
    ]),
  )
}

export async function showCommand(
  environment: Environment,
  dealId: string,
  options: { json?: true },
): Promise<void> {
  requireUuids([dealId])
  const detail = await withDatabase(environment, 'checked', (db) => showProvision(db, dealId))
  if (detail === undefined) {
    throw new AppError(
      'NOT_FOUND',
      `There is no provision for deal ${dealId}. Did the deal-created consumer see the deal?`,
    )
  }
  return options.json ? printJson(detail) : printFields({ ...detail })
}

interface RequeueOptions {
  readonly poison?: true
  readonly reason: string
  readonly by: string
  readonly dryRun?: true
  readonly yes?: true
  readonly json?: true
}

export async function requeueCommand(
  environment: Environment,
  dealIds: readonly string[],
  options: RequeueOptions,
): Promise<0 | 1> {
  if (dealIds.length > 0 === (options.poison === true)) {
    throw new AppError('USAGE', 'Give either DEAL_ID… or --poison, not both and not neither.')
  }
  requireUuids(dealIds)
  requireText('--by', options.by)
  requireText('--reason', options.reason)
  return withDatabase(environment, 'checked', async (db, config) => {
    const context = { db, topic: config.outbox.topic, maxAttempts: config.retry.maxAttempts }
    const onlyPoison = options.poison === true
    const chosen = onlyPoison ? await findPoison(context) : dealIds
    const dryRun = options.dryRun === true
    if (!dryRun && options.yes !== true) await confirmMany(chosen.length, 're-enqueue')
    const result = await requeueDeals(context, chosen, {
      by: options.by,
      reason: options.reason,
      dryRun,
      onlyPoison,
    })
    if (options.json) await printJson({ dryRun, affected: result.requeued.length, ...result })
    else {
      const did = dryRun ? 'would be re-enqueued' : 're-enqueued'
      await printLine(`${result.requeued.length} ${did}`)
      for (const { dealId, why } of result.refused) await printLine(`refused ${dealId}: ${why}`)
    }
    return result.refused.length === 0 ? 0 : 1
  })
}

/** The audit is to say who and why. */
function requireText(name: string, text: string): void {
  if (text.trim() === '') throw new AppError('USAGE', `${name} must say something, not be blank.`)
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function requireUuids(texts: readonly string[]): void {
  const wrong = texts.filter((text) => !uuidPattern.test(text))
  if (wrong.length === 0) return
  throw new AppError(
    'USAGE',
    `Not a deal id: ${wrong.map((text) => JSON.stringify(text)).join(', ')}. ` +
      'A deal id looks like 0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00.',
  )
}
