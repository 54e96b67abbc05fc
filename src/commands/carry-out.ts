/** How every command goes that changes many rows: ask, do, tell what was done and what was not. */

import { confirmMany } from './confirm.js'
import type { ChangeOptions } from './operator-options.js'
import { printJson, printLine } from './output.js'
import { untilSignalled } from './until-signalled.js'

/** What came of it, over deals or over events. */
interface Result {
  readonly affected: number
  readonly skipped: number
  readonly refused: readonly (
    | { readonly dealId: string; readonly why: string }
    | { readonly eventId: string; readonly why: string }
    | { readonly messageId: string; readonly why: string }
  )[]
  readonly stopped: boolean
}

export interface Change {
  /** `re-enqueue`, and `re-enqueued` when it is done. */
  readonly verb: string
  readonly done: string
  /** `deal`, `event`. */
  readonly noun: string
  readonly count: () => Promise<number>
  readonly run: (limits: {
    readonly signal: AbortSignal
    readonly onProgress: (rows: number) => void
  }) => Promise<Result>
}

/** More lines hide what they say; the command can be given for single ones. */
const refusalsAtMost = 20

/** @returns 1 where something was refused, or it was stopped early */
export async function carryOut(change: Change, options: ChangeOptions): Promise<0 | 1> {
  const dryRun = options.dryRun === true
  const isAsking = !dryRun && options.yes !== true
  const expected = isAsking ? await change.count() : undefined
  if (expected !== undefined) await confirmMany(expected, change.verb, change.noun)
  const signal = untilSignalled()
  const result = await change.run({ signal, onProgress: (rows) => showProgress(rows, expected) })
  if (options.json) await printJson({ dryRun, ...result })
  else await printResult(change, dryRun, result)
  return result.refused.length === 0 && !result.stopped ? 0 : 1
}

/** Where someone sits and waits. */
function showProgress(rows: number, expected: number | undefined): void {
  if (!process.stderr.isTTY || rows % 100 !== 0) return
  process.stderr.write(expected === undefined ? `${rows}\r` : `${rows} of ${expected}\r`)
}

async function printResult(change: Change, dryRun: boolean, result: Result): Promise<void> {
  const { affected, skipped, refused, stopped } = result
  const nouns = affected === 1 ? change.noun : `${change.noun}s`
  await printLine(`${affected} ${nouns} ${dryRun ? 'would be ' : ''}${change.done}`)
  if (skipped > 0) await printLine(`${skipped} left alone: done already, or changed meanwhile`)
  for (const refusal of refused.slice(0, refusalsAtMost)) {
    await printLine(`refused ${idOf(refusal)}: ${refusal.why}`)
  }
  const more = refused.length - refusalsAtMost
  if (more > 0) await printLine(`and ${more} more refused; --json lists all of them`)
  if (stopped) await printLine('stopped; the same command goes on from there')
}

function idOf(refusal: Result['refused'][number]): string {
  if ('dealId' in refusal) return refusal.dealId
  return 'eventId' in refusal ? refusal.eventId : refusal.messageId
}
