/**
 * Where server programs are kept between runs, and how a folder there is filled exactly once.
 *
 * One place per machine and user, outside any work tree: a fresh clone starts without a download.
 */

import { chmod, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, parse, resolve } from 'node:path'

const projectName = 'chat-provision-retry'

/** root's home is closed to others, so root's cache lies where a server's own user may walk. */
export function serverCacheFolder(): string {
  if (isRoot()) return join('/var/cache', projectName)
  return join(homedir(), '.cache', projectName)
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * The folder `name` of the cache, made by `fill` where it is not there yet. It is filled under
 * another name and then renamed, so that no reader sees half of it; of two that fill it at once
 * the second finds the name taken and uses the first one's.
 */
export async function cachedFolder(
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const root = serverCacheFolder()
  const folder = join(root, name)
  if (await exists(folder)) return folder
  await mkdir(root, { recursive: true, mode: 0o755 })
  const partial = await mkdtemp(join(root, `.${name}-`))
  try {
    await fill(partial)
    await chmod(partial, 0o755)
    await rename(partial, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error
    })
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
  return folder
}

/** A temporary folder of mode 0700; as root, where another user can reach it once it owns it. */
export async function makeTemporaryFolder(prefix: string): Promise<string> {
  const parent = isRoot() && !(await isOpenToAll(tmpdir())) ? serverCacheFolder() : tmpdir()
  await mkdir(parent, { recursive: true, mode: 0o755 })
  return mkdtemp(join(parent, prefix))
}

/** Whether any user may walk to this folder: one ancestor of mode 0700 is enough to say no. */
export async function isOpenToAll(folder: string): Promise<boolean> {
  const othersMayEnter = 0o001
  let current = resolve(folder)
  for (;;) {
    const { mode } = await stat(current)
    if ((mode & othersMayEnter) === 0) return false
    if (current === parse(current).root) return true
    current = dirname(current)
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
      throw error
    },
  )
}
