/** kubernetes-validate, which ships Kubernetes' own schemas, where it is installed. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where scripts/install-test-tools.sh puts it. */
const program = fileURLToPath(
  new URL('../../.cache/kubernetes-validate/bin/kubernetes-validate', import.meta.url),
)

export const missingKubernetesValidate = existsSync(program)
  ? undefined
  : 'scripts/install-test-tools.sh has not installed it'

/**
 * Holds files against the schemas of a version such as 1.34, refusing what they don't know.
 *
 * @returns what it complains of, one line each
 */
export async function kubernetesFaults(
  version: string,
  files: readonly string[],
): Promise<string[]> {
  const args = ['--strict', '--quiet', '--kubernetes-version', version, ...files]
  const { stdout, stderr } = await run(program, args).catch(
    (failed: unknown) => failed as { stdout: string; stderr: string },
  )
  return `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
}
