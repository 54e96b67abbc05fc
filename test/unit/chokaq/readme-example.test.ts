/** The README's example, run as it is printed there. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { waitFor } from '../../support/wait-for.js'

const root = new URL('../../../', import.meta.url)

afterEach(() => vi.restoreAllMocks())

it('runs in memory, in some 20 lines, and ends by its signal', async () => {
  const readme = await readFile(new URL('src/chokaq/README.md', root), 'utf8')
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ''
  expect(example.trim().split('\n').length).toBeLessThan(25)
  const face = new URL('src/chokaq/index.js', root).pathname
  // Inside the project, where its imports are found.
  const folder = await mkdtemp(join(root.pathname, 'test/unit/chokaq/.example-'))
  const print = vi.spyOn(console, 'log').mockReturnValue()
  const others = process.listeners('SIGTERM')
  try {
    await writeFile(join(folder, 'index.ts'), `export * from '${face}'`)
    await writeFile(join(folder, 'example.ts'), example)
    await import(join(folder, 'example.ts'))
    await waitFor('the mail to be sent', () => print.mock.calls.length > 0)
    expect(print.mock.calls).toEqual([['mail to', 'ann@example.com']])
  } finally {
    const own = process.listeners('SIGTERM').filter((listener) => !others.includes(listener))
    for (const end of own) end('SIGTERM')
    expect(own).toHaveLength(1)
    await rm(folder, { recursive: true })
  }
})
