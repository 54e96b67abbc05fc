/** The user that a server is run as where this program runs as root, which servers refuse. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AppError } from '../../errors.js'
import { isRoot } from './server-cache.js'
import type { ProcessOwner } from './server-process.js'

const run = promisify(execFile)

/**
 * Debian's postgres where there is one, else `nobody`, which is everywhere: no account is made.
 * Undefined where this program is not root, and its servers run as the same user.
 */
export async function serverUser(): Promise<ProcessOwner | undefined> {
  if (!isRoot()) return undefined
  const owner = (await idsOf('postgres')) ?? (await idsOf('nobody'))
  if (owner !== undefined) return owner
  throw new AppError(
    'DATABASE_UNAVAILABLE',
    'PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody. ' +
      'Run this as an ordinary user.',
  )
}

async function idsOf(user: string): Promise<ProcessOwner | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    // `id` says by its exit code that there is no such user.
    return undefined
  }
}
