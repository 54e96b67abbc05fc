/** Schemathesis, a fuzzer of APIs that knows their OpenAPI document, where it is installed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where scripts/install-test-tools.sh puts it. */
const program = fileURLToPath(
  new URL('../../.cache/schemathesis/bin/schemathesis', import.meta.url),
)

export const missingSchemathesis = existsSync(program)
  ? undefined
  : 'scripts/install-test-tools.sh has not installed it'

export interface FuzzResult {
  readonly exitCode: number | null
  /** What it says for people: each fault with a line to repeat it. */
  readonly report: string
}

export async function runSchemathesis(args: readonly string[], cwd: string): Promise<FuzzResult> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let report = ''
  const hear = (text: string): void => void (report += text)
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  await once(child, 'close')
  return { exitCode: child.exitCode, report }
}
