/** Docker and its compose as commands: what they print, and an error with what they complain of. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { projectRoot } from '../support/documents.js'

const run = promisify(execFile)

/** Enough for a topic's whole content. */
const maxBuffer = 64 * 1024 * 1024

export type Environment = Readonly<Record<string, string>>

export async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args, { cwd: projectRoot, maxBuffer })).stdout.trim()
}

export type Compose = (...args: string[]) => Promise<string>

/** Compose as the docker command's plugin, or where that is not installed as a program of its own. */
export async function findCompose(
  project: string,
  files: readonly string[],
  environment: Environment,
): Promise<Compose> {
  const isPlugin = await docker('compose', 'version').then(
    () => true,
    () => false,
  )
  const command = isPlugin ? 'docker' : 'docker-compose'
  const always = [
    ...(isPlugin ? ['compose'] : []),
    ...['--project-name', project, ...files.flatMap((file) => ['--file', file])],
  ]
  const env = { ...process.env, ...environment }
  return async (...args) =>
    (await run(command, [...always, ...args], { cwd: projectRoot, maxBuffer, env })).stdout.trim()
}
