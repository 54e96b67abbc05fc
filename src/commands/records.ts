/** `runs list` and `audit`: what the job did, and what operators did. */

import type { Command } from 'commander'
import type { Environment } from '../config/read-options.js'
import { listAudit } from '../operations/audit-trail.js'
import { listRuns } from '../operations/list-runs.js'
import { durationText } from './age.js'
import type { SetExitCode } from './exit-code.js'
import { printPage } from './list-page.js'
import { withExamples, withPage, type PageOptions } from './operator-options.js'
import { addUndo } from './undo.js'
import { withDatabase } from './with-database.js'

export function addRecords(program: Command, environment: Environment, exit: SetExitCode): void {
  const runs = program.command('runs').description('look at the cycles of the retry job')
  withExamples(withPage(runs.command('list')), 'runs list --limit 10')
    .description('the cycles, newest first')
    .action((options: PageOptions) => listOfRuns(environment, options))

  const audit = program.command('audit').description('look at what operators did, and take it back')
  withExamples(
    withPage(
      audit
        .command('list')
        .option('--deal <deal-id>', 'to one deal')
        .option('--actor <name>', 'by whom')
        .option('--action <action>', 'requeue, reemit, reconcile, replay, skip, job-cancel, …'),
    ),
    'audit list --deal DEAL_ID',
    'audit list --actor anna --action requeue',
  )
    .description('who did what to which deals, and why; newest first')
    .action((options: AuditOptions) => listOfAudit(environment, options))
  addUndo(audit, environment, exit)
}

async function listOfRuns(environment: Environment, options: PageOptions): Promise<void> {
  const { limit, cursor } = options
  const page = await withDatabase(environment, 'checked', (db) => listRuns(db, { limit, cursor }))
  await printPage(page, options, {
    columns: ['started', 'outcome', 'took', 'rows', 'ready', 'retry', 'poison', 'reason', 'host'],
    whole: ['started', 'outcome'],
    row: (run) => [
      run.startedAt.slice(0, 19),
      run.outcome ?? 'running',
      run.durationMs === null ? null : durationText(run.durationMs),
      run.claimed,
      run.provisioned,
      run.retried,
      run.failed,
      run.reason,
      run.host,
    ],
    empty: 'No cycle has run yet.',
  })
}

interface AuditOptions extends PageOptions {
  readonly deal?: string
  readonly actor?: string
  readonly action?: string
}

async function listOfAudit(environment: Environment, options: AuditOptions): Promise<void> {
  const { deal: dealId, actor, action, limit, cursor } = options
  const page = await withDatabase(environment, 'checked', (db) =>
    listAudit(db, { dealId, actor, action, limit, cursor }),
  )
  await printPage(page, options, {
    columns: ['line', 'at', 'by', 'action', 'rows', 'deal', 'why', 'chosen by'],
    whole: ['line', 'at', 'action'],
    row: (line) => [
      line.id,
      line.at.slice(0, 19),
      line.actor,
      line.action,
      line.affected,
      line.dealId,
      line.reason,
      line.filter,
    ],
    empty: 'Nothing is on record.',
  })
}
