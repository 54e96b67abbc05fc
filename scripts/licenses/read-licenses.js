/** The licences of all packages, from the lock file: the same on every machine, whatever is installed there. */

import { readFileSync } from 'node:fs'
import { URL } from 'node:url'

/** Ask for no more than a notice. */
const free = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']
/** Bind whoever passes the package on or changes it: for tools, which are not in the image. */
const forTools = ['(MIT OR CC0-1.0)', 'CC-BY-4.0', 'MPL-2.0', 'Python-2.0', 'Unlicense']
/** Say it in a form of long ago, which npm does not take over into the lock file. */
const saidElsewhere = { buildcheck: 'MIT', 'cpu-features': 'MIT', ssh2: 'MIT' }

/** @returns one entry for each package: name, version, licence, and whether it is a tool alone */
export function readLicenses(lockText) {
  return Object.entries(JSON.parse(lockText).packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, license, dev, devOptional }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return {
        name,
        version,
        license: license ?? saidElsewhere[name] ?? 'none',
        isTool: dev === true || devOptional === true,
      }
    })
}

export function readLockFile() {
  return readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')
}

/** One line for each package whose licence nobody has allowed. */
export function licenseFaults(packages) {
  return packages
    .filter(
      ({ license, isTool }) => !free.includes(license) && !(isTool && forTools.includes(license)),
    )
    .map(
      ({ name, version, license, isTool }) =>
        `${name}@${version}: ${license} is not allowed for ${isTool ? 'a tool' : 'what is shipped'}`,
    )
}
