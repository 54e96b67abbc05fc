/** Runs the built command line as users do: a process of its own, with an environment of its own. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { waitFor } from './wait-for.js'

const cliPath = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface CliResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Nothing of the developer's own options reaches the process. */
function childEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...env }
}

/** Runs a command to its end. */
export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  program = cliPath,
): Promise<CliResult> {
  const running = startCli(args, env, program)
  const exitCode = await running.exited
  return { exitCode, stdout: running.stdout(), stderr: running.stderr() }
}

export interface RunningCli {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  stdout(): string
  stderr(): string
  /** The parsed log lines on stderr so far. */
  log(): Record<string, unknown>[]
  /** Waits for a log line with this event. */
  logged(event: string, timeoutMs?: number): Promise<Record<string, unknown>>
}

/**
 * Starts a command that goes on until it is signalled; the caller ends it.
 *
 * @param program the command line's file, where it is not this version's
 */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  program = cliPath,
): RunningCli {
  const child = spawn(process.execPath, [program, ...args], {
    env: childEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = once(child, 'close').then(() => child.exitCode)
  const log = (): Record<string, unknown>[] =>
    stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return {
    child,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    log,
    async logged(event, timeoutMs) {
      const find = (): Record<string, unknown> | undefined =>
        log().find((line) => line['event'] === event)
      await waitFor(
        `the log event "${event}"`,
        () => find() !== undefined,
        timeoutMs === undefined ? {} : { timeoutMs },
      )
      return find() ?? {}
    },
  }
}
