/** Worker processes of the retry core, which tests may end as they like. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { RetryCoreOptions } from '../../src/chokaq/index.js'

export interface WorkerProcess {
  readonly child: ChildProcess
  /** Its exit code, or null where a signal ended it. */
  readonly exited: Promise<number | null>
  readonly stderr: () => string
}

export type WorkerProcessOptions = Partial<RetryCoreOptions> & { readonly graceMs: number }

/** Short intervals, so that what a dead worker leaves is found within seconds. */
const quick = {
  pollIntervalMs: 100,
  batchSize: 50,
  concurrency: 10,
  maxAttempts: 3,
  heartbeatMinMs: 300,
  heartbeatMaxMs: 600,
  fetchedTimeoutMs: 3_000,
  zombieTimeoutMs: 3_000,
  backoff: { baseMs: 50, factor: 2, capMs: 500, jitter: 0.2 },
} satisfies Partial<RetryCoreOptions>

const script = new URL('./chokaq-worker.js', import.meta.url)

/** Resolves when it works. */
export async function startWorkerProcess(
  url: string,
  options: WorkerProcessOptions,
): Promise<WorkerProcess> {
  const text = JSON.stringify({ ...quick, ...options })
  const child = spawn(process.execPath, [script.pathname, url, text], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const ready = once(child.stdout, 'data')
  const tooEarly = exited.then((code) => {
    throw new Error(`the worker ended with ${code} before it was ready:\n${stderr}`)
  })
  // It is raced only until the worker is ready; later ends are the test's own.
  tooEarly.catch(() => undefined)
  await Promise.race([ready, tooEarly])
  return { child, exited, stderr: () => stderr }
}
