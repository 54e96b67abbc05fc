/** The check of licences refuses what it must, and takes what is locked. */

import { describe, expect, it } from 'vitest'
import { licenseFaults, readLicenses, readLockFile } from '../../scripts/licenses/read-licenses.js'

function lockOf(entry: object): string {
  return JSON.stringify({ packages: { '': {}, 'node_modules/a/node_modules/@b/c': entry } })
}

const faultsOf = (entry: object): string[] => licenseFaults(readLicenses(lockOf(entry)))

describe('the check of licences', () => {
  it('takes what is locked', () => {
    const packages = readLicenses(readLockFile())
    expect(packages.length).toBeGreaterThan(100)
    expect(licenseFaults(packages)).toEqual([])
  })

  it('refuses a licence that binds what is shipped, and none at all', () => {
    expect(faultsOf({ version: '1.0.0', license: 'AGPL-3.0' })).toEqual([
      '@b/c@1.0.0: AGPL-3.0 is not allowed for what is shipped',
    ])
    expect(faultsOf({ version: '1.0.0' })).toHaveLength(1)
  })

  it('lets tools have some that what is shipped may not have', () => {
    expect(faultsOf({ version: '1.0.0', license: 'MPL-2.0', dev: true })).toEqual([])
    expect(faultsOf({ version: '1.0.0', license: 'MPL-2.0' })).toHaveLength(1)
    expect(faultsOf({ version: '1.0.0', license: 'AGPL-3.0', dev: true })).toHaveLength(1)
  })
})
