/** The options that operator commands share, so that each is called and explained the same. */

import { InvalidArgumentError, type Command } from 'commander'
import { AppError } from '../errors.js'
import type { PageRequest } from '../operations/page.js'
import type { Targets } from '../operations/provision-command.js'
import {
  isEmptyFilter,
  readProvisionFilter,
  type ProvisionFilterInput,
} from '../operations/provision-filter.js'
import { readOrder, readUuids, type Order } from '../operations/read-input.js'

export interface OutputOptions {
  readonly json?: true
}

export type PageOptions = PageRequest & OutputOptions

/** `--limit`, `--cursor` and `--json` of a list. */
export function withPage(command: Command): Command {
  return command
    .option('--limit <n>', 'rows at the most', parseCount, 100)
    .option('--cursor <cursor>', 'go on where the page before ended')
    .option('--json', 'print an array')
}

export function parseCount(text: string): number {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1 || n > 10_000) {
    throw new InvalidArgumentError('It is a whole number from 1 to 10000.')
  }
  return n
}

export function withFilter(command: Command): Command {
  return command
    .option('--poison', 'those that are out of attempts')
    .option('--status <status>', 'Provisioning, Ready or Failed')
    .option('--error <prefix>', 'last error begins so, such as guard: or data:22001')
    .option('--tenant <id>', 'of this developer')
    .option('--older-than <duration>', 'made longer ago than 15m, 2h, 3d')
}

export interface ChangeOptions extends OutputOptions {
  readonly by?: string
  readonly reason?: string
  readonly dryRun?: true
  readonly yes?: true
}

/** What every command has that changes something. */
export function withOrder(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; kept in the audit (needed unless --dry-run)')
    .option('--reason <text>', 'why; kept in the audit (needed unless --dry-run)')
    .option('--dry-run', 'only say what would be done')
    .option('--yes', 'do not ask before many')
    .option('--json', 'print as JSON')
}

/** @throws AppError INPUT_INVALID where who or why is not said */
export function orderOf({ by, reason, dryRun }: ChangeOptions): Order | 'dry run' {
  return dryRun === true ? 'dry run' : readOrder({ by, reason }, '--')
}

/** @throws AppError USAGE or INPUT_INVALID */
export function targetsOf(dealIds: readonly string[], options: ProvisionFilterInput): Targets {
  const filter = readProvisionFilter(options)
  if (dealIds.length > 0 !== isEmptyFilter(filter)) {
    throw new AppError(
      'USAGE',
      'Give either DEAL_ID… or a filter (--poison, --status, --error, --tenant, --older-than), ' +
        'not both and not neither.',
    )
  }
  return dealIds.length > 0 ? { dealIds: readUuids('a deal id', dealIds) } : { filter }
}

/** Shown below a command's options: what one would type. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  const shown = lines.map((line) => `  chat-provision-retry ${line}`)
  return command.addHelpText('after', ['', 'Examples:', ...shown].join('\n'))
}
