/** However `serve` is started, as a program, by npm or in a container, Node gets the same flags. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { projectRoot } from '../support/documents.js'

const read = (path: string): Promise<string> => readFile(join(projectRoot, path), 'utf8')

it('the program, npm start and the image give Node the same flags', async () => {
  const shebang = /^#!\/usr\/bin\/env -S node (.+)$/m.exec(await read('src/cli.ts'))?.[1]
  expect(shebang).toMatch(/^--/)
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: { start: string } }
  expect(scripts.start).toContain(`node ${shebang} dist/cli.js serve`)
  const words = ['node', ...(shebang ?? '').split(' '), 'dist/cli.js']
  const entry = `ENTRYPOINT [${words.map((word) => `"${word}"`).join(', ')}]`
  expect((await read('Dockerfile')).split('\n')).toContain(entry)
})
