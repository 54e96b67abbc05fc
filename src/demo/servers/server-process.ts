/**
 * A server run as a child process: its pid, its end, its last words, and an end with its parent.
 *
 * The child gets a session of its own, so Ctrl-C in a terminal reaches only the program that
 * started it, which then stops its servers in order. So that a killed parent leaves nothing behind,
 * a small shell waits on a pipe from the parent: when that closes, it ends the server.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { once } from 'node:events'

/** Enough to hold a stack trace; shown when a server does not start. */
const keptLines = 40

export interface ServerProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The user to run as; the parent's where left out. */
  readonly owner?: ProcessOwner | undefined
  readonly cwd?: string
  /** The signal that ends this server quickest without harm when its parent has died. */
  readonly orphanSignal: 'QUIT' | 'KILL' | 'TERM'
  /** Removed after the server has ended because its parent died. */
  readonly orphanFolder?: string | undefined
  /** The whole environment; the parent's where left out. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly onLine?: ((line: string, stream: 'stdout' | 'stderr') => void) | undefined
}

export interface ProcessOwner {
  readonly uid: number
  readonly gid: number
}

export interface ServerProcess {
  readonly pid: number
  /** Resolves, never rejects, once the process is gone: how it ended. */
  readonly exited: Promise<string>
  hasExited(): boolean
  /** False where the process is gone already. */
  signal(signal: NodeJS.Signals): boolean
  /** Ends it by `signal`, frozen or not; what has not ended by then is killed. */
  end(signal: NodeJS.Signals, killAfterMs: number): Promise<void>
  lastLines(): string
  /** Lets the process outlive its parent, and the parent end without waiting for it. */
  leaveRunning(): void
}

/** The pipes of a child are sockets, though their type doesn't say so. */
interface Unrefable {
  unref(): void
}

/** Resolves once the process exists; whether it serves is the caller's to find out. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const child = spawn(options.command, options.args, {
    ...(options.owner ?? {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.environment === undefined ? {} : { env: options.environment }),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] }).on('line', (line) => {
      lines.push(line)
      if (lines.length > keptLines) lines.shift()
      options.onLine?.(line, stream)
    })
  }
  await once(child, 'spawn')
  const pid = child.pid
  if (pid === undefined) throw new Error(`${options.command} did not start`)
  const watchdog = endWithParent(pid, options)
  let ended: string | undefined
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = signal === null ? `exit code ${String(code)}` : `signal ${signal}`
      watchdog?.kill('SIGKILL')
      resolve(ended)
    })
  })
  const signal = (name: NodeJS.Signals): boolean => ended === undefined && child.kill(name)
  return {
    pid,
    exited,
    hasExited: () => ended !== undefined,
    signal,
    end: async (name, killAfterMs) => {
      signal(name)
      signal('SIGCONT')
      const timer = setTimeout(() => signal('SIGKILL'), killAfterMs)
      await exited
      clearTimeout(timer)
    },
    lastLines: () => lines.join('\n'),
    leaveRunning: () => {
      watchdog?.kill('SIGKILL')
      for (const handle of [child, child.stdout, child.stderr]) (handle as Unrefable).unref()
    },
  }
}

/**
 * `read` ends when the pipe closes, that is when the parent is gone however it went. A stopped
 * (SIGSTOP) server is continued to let it end; after 10 s, far above a quick end, it is killed.
 */
const watchdogScript = `
read -r _
kill -"$2" "$1"; kill -CONT "$1"
tries=0
while kill -0 "$1" && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -KILL "$1"
[ -z "$3" ] || rm -rf "$3"
`

function endWithParent(pid: number, options: ServerProcessOptions): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const watchdog = spawn(
    '/bin/sh',
    ['-c', watchdogScript, 'sh', String(pid), options.orphanSignal, options.orphanFolder ?? ''],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  )
  // Without the watchdog the server still serves; only an orphan would outlive a killed parent.
  watchdog.once('error', (error) => options.onLine?.(`no watchdog: ${error.message}`, 'stderr'))
  watchdog.stdin.on('error', () => undefined)
  watchdog.unref()
  return watchdog
}
