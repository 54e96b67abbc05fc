/** `audit undo`: takes a change back while nothing has come of it. */

import type { Command } from 'commander'
import type { Environment } from '../config/read-options.js'
import { createOperatorContext } from '../operator-context.js'
import { readOrder } from '../operations/read-input.js'
import { undoChange } from '../operations/undo/undo-change.js'
import { readLineId } from '../operations/undo/undoable-line.js'
import type { SetExitCode } from './exit-code.js'
import { withWho, type WhoOptions } from './jobs.js'
import { withExamples } from './operator-options.js'
import { printJson, printLine } from './output.js'
import { untilSignalled } from './until-signalled.js'
import { withJobs } from './with-jobs.js'

export function addUndo(audit: Command, environment: Environment, exit: SetExitCode): void {
  withExamples(
    withWho(audit.command('undo <line>')),
    'audit undo 1203 --by anna --reason "wrong tenant"',
  )
    .description('take a re-enqueue, a skip or a change of a queue back, by its line in the list')
    .action(async (line: string, options: WhoOptions) =>
      exit(await undo(environment, line, options)),
    )
}

/** More lines hide what they say. */
const refusalsAtMost = 20

async function undo(environment: Environment, text: string, options: WhoOptions): Promise<0 | 1> {
  const auditId = readLineId(text)
  const order = readOrder(options, '--')
  const result = await withJobs(environment, ({ db, config, moves }) => {
    // A relay hears of what was written at its next poll.
    const operator = createOperatorContext(db, config, () => undefined)
    const context = { ...operator, relay: config.outbox.relay, moves }
    return undoChange(context, { auditId, order, signal: untilSignalled() })
  })
  const { affected, skipped, refused, stopped } = result
  const exitCode = stopped || refused.length > 0 ? 1 : 0
  if (options.json) {
    await printJson(result)
    return exitCode
  }
  await printLine(`${affected} taken back`)
  if (skipped > 0) await printLine(`${skipped} left alone: taken back before`)
  for (const { auditId: line, code, why } of refused.slice(0, refusalsAtMost))
    await printLine(`line ${line} stays (${code}): ${why}`)
  const more = refused.length - refusalsAtMost
  if (more > 0) await printLine(`and ${more} more stay; --json lists all of them`)
  if (stopped) await printLine('stopped; the same command goes on from there')
  return exitCode
}
