/**
 * The program of the release before, built in a work tree of its own, once per commit and machine.
 *
 * test/upgrade/base-commit names it: from 1.0.0 on the commit of the last release.
 */

import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder } from '../../src/demo/servers/server-cache.js'
import { projectRoot } from '../support/documents.js'

const run = promisify(execFile)

export async function baseCommit(): Promise<string> {
  return (await readFile(join(projectRoot, 'test/upgrade/base-commit'), 'utf8')).trim()
}

/** Why the release before can't be built here, or undefined. */
export async function whyNoBase(): Promise<string | undefined> {
  const commit = await baseCommit()
  try {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: projectRoot })
    return undefined
  } catch {
    return (
      `this clone has no commit ${commit}, which test/upgrade/base-commit names: ` +
      'fetch the whole history (git fetch --unshallow)'
    )
  }
}

/** @returns its command line's file */
export async function buildReleaseBefore(): Promise<string> {
  const commit = await baseCommit()
  const folder = await cachedFolder(`release-${commit}`, async (target) => {
    // An export and not a work tree: nothing of it is left in the repository.
    const archive = join(target, 'source.tar')
    await run('git', ['archive', '--output', archive, commit], { cwd: projectRoot })
    await run('tar', ['-xf', archive, '-C', target])
    await rm(archive)
    await run('npm', ['ci', '--silent'], { cwd: target })
    await run('npm', ['run', '--silent', 'build'], { cwd: target })
  })
  return join(folder, 'dist/cli.js')
}
