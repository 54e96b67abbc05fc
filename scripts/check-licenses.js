/** Fails where a package's licence is one that nobody has allowed: `npm run licenses`. */

import process from 'node:process'
import { licenseFaults, readLicenses, readLockFile } from './licenses/read-licenses.js'

const packages = readLicenses(readLockFile())
const faults = licenseFaults(packages)
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.stdout.write(`${packages.length} packages, ${faults.length} with a licence not allowed\n`)
process.exitCode = faults.length === 0 && packages.length > 0 ? 0 : 1
