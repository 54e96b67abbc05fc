/**
 * Tests that need a program which a machine may lack: skipped loudly there, failing in CI.
 *
 * A silent skip looks like a pass, and then nobody notices that a part is no longer tested.
 */

import { test, type SuiteAPI } from 'vitest'

/** CI's machines have no Docker engine, and what needs one is proven elsewhere too. */
const mayLackInCi = new Set(['Docker'])

/**
 * Returns `describe` as it is where nothing is missing. Otherwise one that skips, after a line on
 * stderr, or in CI one whose single test fails with the reason.
 */
export function mustRun(
  what: string,
  missing: string | undefined,
  describe: SuiteAPI,
): (name: string, body: () => void) => void {
  if (missing === undefined) return (name, body) => describe(name, body)
  if (process.env['CI'] !== undefined && !mayLackInCi.has(what)) {
    return (name) =>
      describe(name, () => {
        test(`needs ${what}`, () => {
          throw new Error(`${what} can't be had, and CI skips nothing: ${missing}`)
        })
      })
  }
  process.stderr.write(`\nSKIPPED: the tests that need ${what}, because ${missing}\n`)
  return (name, body) => describe.skip(`${name} [needs ${what}]`, body)
}
