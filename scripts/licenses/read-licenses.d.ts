/** The types of read-licenses.js, for the tests. */

export interface LockedPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly isTool: boolean
}

export function readLicenses(lockText: string): LockedPackage[]
export function readLockFile(): string
export function licenseFaults(packages: readonly LockedPackage[]): string[]
