/** The command line: parses, calls one function per command, turns errors into exit codes. */

import { Command, CommanderError, InvalidArgumentError } from 'commander'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import { demoCommand } from './demo.js'
import { migrateStatus, migrateUp } from './migrate.js'
import { listCommand, requeueCommand, showCommand } from './provisions.js'
import { runOnce } from './run-once.js'
import { serve } from './serve.js'

/** 0 done, 1 failed, 2 wrong use or configuration. */
export type ExitCode = 0 | 1 | 2

/**
 * Runs one command; never rejects, what went wrong is said on stderr in one message.
 *
 * @param flush what a command that ends the process itself has to do before
 */
export async function runCommandLine(
  args: readonly string[],
  environment: Environment,
  flush: () => Promise<void>,
): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  const program = build(environment, flush, (code) => (exitCode = code))
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (isReaderGone(error)) return 0
    if (error instanceof AppError) {
      process.stderr.write(`error: ${error.message}\n`)
      return error.exitCode
    }
    process.stderr.write(
      `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
    return 1
  }
}

/** `… | head` has seen enough. */
function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}

function build(
  environment: Environment,
  flush: () => Promise<void>,
  exit: (code: ExitCode) => void,
): Command {
  const program = new Command('chat-provision-retry')
    .description('Finishes every deal chat whose provisioning failed or hangs, and tells crm.')
    .exitOverride()
    .showHelpAfterError('(add --help for what is allowed)')

  program
    .command('serve')
    .description('run the retry job, the relay and the HTTP server until stopped')
    .action(() => serve(environment, flush))

  program
    .command('run-once')
    .description('run one cycle, then publish what is in the outbox')
    .option('--json', 'print the summary as JSON')
    .action(async (options: { json?: true }) => exit(await runOnce(environment, options)))

  const migrate = program.command('migrate').description('make or look at the tables')
  migrate
    .command('up')
    .description('apply what is not applied yet')
    .option('--reference', "also make the messenger's own tables, for a new installation")
    .option('--json', 'print what was applied as JSON')
    .action((options: { reference?: true; json?: true }) => migrateUp(environment, options))
  migrate
    .command('status')
    .description('show what is applied and what is not')
    .option('--json', 'print as JSON')
    .action((options: { json?: true }) => migrateStatus(environment, options))

  const provisions = program
    .command('provisions')
    .description('look at provisions and re-enqueue them')
  provisions
    .command('list')
    .description('the provisions that changed last')
    .option('--poison', 'only those that are out of attempts')
    .option('--status <status>', 'Provisioning, Ready or Failed', parseStatus)
    .option('--limit <n>', 'rows at the most', parseLimit, 100)
    .option('--json', 'print an array')
    .action((options: Parameters<typeof listCommand>[1]) => listCommand(environment, options))
  provisions
    .command('show <deal-id>')
    .description('one deal: its row, chat, participants, events and audit')
    .option('--json', 'print as JSON')
    .action((dealId: string, options: { json?: true }) => showCommand(environment, dealId, options))
  provisions
    .command('requeue [deal-ids...]')
    .description('attempts = 0 and due now, for given deals or for all that are out of attempts')
    .option('--poison', 'all that are out of attempts')
    .requiredOption('--reason <text>', 'why; kept in the audit')
    .requiredOption('--by <name>', 'who; kept in the audit')
    .option('--dry-run', 'only say what would be done')
    .option('--yes', 'do not ask before many')
    .option('--json', 'print as JSON')
    .action(async (dealIds: string[], options: Parameters<typeof requeueCommand>[2]) =>
      exit(await requeueCommand(environment, dealIds, options)),
    )

  program
    .command('demo')
    .description('watch failed deals get their chat, on servers of its own')
    .option('--deals <n>', 'how many deals', parseLimit, 200)
    .option('--from <file>', 'deals from a file, one JSON object per line')
    .option('--exit', 'end when all is done, instead of staying open')
    .action(async (options: Parameters<typeof demoCommand>[1]) =>
      exit(await demoCommand(environment, options)),
    )
  return program
}

function parseStatus(text: string): string {
  const known = ['Provisioning', 'Ready', 'Failed']
  const status = known.find((name) => name.toLowerCase() === text.toLowerCase())
  if (status === undefined) throw new InvalidArgumentError(`It is one of ${known.join(', ')}.`)
  return status
}

function parseLimit(text: string): number {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1 || n > 10_000) {
    throw new InvalidArgumentError('It is a whole number from 1 to 10000.')
  }
  return n
}
