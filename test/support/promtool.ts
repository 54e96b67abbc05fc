/** Debian's promtool, for tests of the alert rules. */

import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { mustRun } from './must-run.js'

const promtool = findOnPath('promtool')
export const prometheusProgram = findOnPath('prometheus')

/** As vitest's describe; skipped loudly where Prometheus is not installed, failing in CI. */
export const describeWithPrometheus = mustRun(
  'Prometheus',
  promtool === undefined || prometheusProgram === undefined
    ? 'prometheus and promtool are not installed (scripts/install-test-tools.sh does it)'
    : undefined,
  describe,
)

/** Runs it to its end, on `input` where it reads some; what it says on both streams is one text. */
export function runPromtool(
  args: readonly string[],
  input = '',
): Promise<{ readonly exitCode: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    if (promtool === undefined) {
      reject(new Error('promtool is not installed'))
      return
    }
    const child = execFile(promtool, args, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.code
      if (typeof exitCode === 'number') resolve({ exitCode, output: stdout + stderr })
      else reject(new Error('promtool did not run to its end', { cause: error }))
    })
    child.stdin?.end(input)
  })
}

function findOnPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}
