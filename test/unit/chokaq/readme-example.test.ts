/** The README's example, run as it is printed there. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RetryCore } from '../../../src/chokaq/index.js'
import { waitFor } from '../../support/wait-for.js'

const root = new URL('../../../', import.meta.url)

it('runs in memory, in some 20 lines', async () => {
  const readme = await readFile(new URL('src/chokaq/README.md', root), 'utf8')
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ''
  expect(example.trim().split('\n').length).toBeLessThan(25)
  const face = new URL('src/chokaq/index.js', root).pathname
  const module = `
    export const sent: string[] = []
    const send = async (to: string, signal: AbortSignal) => {
      signal.throwIfAborted()
      sent.push(to)
    }
    const nothing = () => undefined
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
    ${example.replace("'./index.js'", `'${face}'`)}
    export { core }`
  // Inside the project, where its imports are found.
  const folder = await mkdtemp(join(root.pathname, 'test/unit/chokaq/.example-'))
  try {
    const file = join(folder, 'example.ts')
    await writeFile(file, module)
    const { core, sent } = (await import(file)) as { core: RetryCore; sent: string[] }
    await waitFor('the mail to be sent', () => sent.length > 0)
    await core.stop(1_000)
    expect(sent).toEqual(['ann@example.com'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
