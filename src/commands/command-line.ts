/** The command line: parses, calls one function per command, turns errors into exit codes. */

import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import { demoCommand } from './demo.js'
import { doctorCommand } from './doctor.js'
import type { ExitCode, SetExitCode } from './exit-code.js'
import { health } from './health.js'
import { migrateStatus, migrateUp } from './migrate.js'
import { parseCount } from './operator-options.js'
import { addIntake } from './intake.js'
import { addJobs } from './jobs.js'
import { addOutbox } from './outbox.js'
import { addProvisions } from './provisions.js'
import { addQueues } from './queues.js'
import { addRecords } from './records.js'
import { runOnce } from './run-once.js'
import { serve } from './serve.js'

/** The same place from src/ and from dist/. */
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

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
  const program = createProgram(environment, flush, (code) => (exitCode = code))
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
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

/** What the parser says of wrong use, its suggestion included, and where to read on. */
function oneLine(text: string): string {
  return `${text.trim().replace(/\s*\n\s*/g, ' ')} (--help tells what is allowed)`
}

/** All commands with their options, for documents and tests too; nothing runs before it parses. */
export function createProgram(
  environment: Environment,
  flush: () => Promise<void>,
  exit: SetExitCode,
): Command {
  const program = new Command('chat-provision-retry')
    .description('Finishes every deal chat whose provisioning failed or hangs, and tells crm.')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) })

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

  program
    .command('doctor')
    .description('look at all that the service rests on, and say how to mend what is wrong')
    .option('--json', 'print an array')
    .action(async (options: { json?: true }) => exit(await doctorCommand(environment, options)))

  program
    .command('health')
    .description('ask the service that runs here how it is, for a health check')
    .option('--ready', 'ask whether it can work now, not whether it should be kept')
    .option('--json', 'print as JSON')
    .action(async (options: Parameters<typeof health>[1]) =>
      exit(await health(environment, options)),
    )

  addProvisions(program, environment, exit)
  addOutbox(program, environment, exit)
  addIntake(program, environment, exit)
  addJobs(program, environment, exit)
  addQueues(program, environment)
  addRecords(program, environment, exit)

  program
    .command('demo')
    .description('watch failed deals get their chat, on servers of its own')
    .option('--deals <n>', 'how many deals', parseCount, 200)
    .option('--from <file>', 'deals from a file, one JSON object per line')
    .option('--exit', 'end when all is done, instead of staying open')
    .action(async (options: Parameters<typeof demoCommand>[1]) =>
      exit(await demoCommand(environment, options)),
    )
  return program
}
