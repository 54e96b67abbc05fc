/** Each case and each invariant that a test, a file of SQL or a comment names can be looked up. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { projectRoot, readMarkdownFile } from '../support/documents.js'

const { text: page } = await readMarkdownFile('docs/faults.md')
const listed = [...page.matchAll(/^\| ([A-Z]\d|INV-[A-Z]+-\d) \|/gm)].map(([, name = '']) => name)

async function textsOf(...folders: string[]): Promise<string[]> {
  const found = folders.map(async (folder) => {
    const names = await readdir(join(projectRoot, folder), { recursive: true })
    return Promise.all(
      names
        .filter((name) => /\.(tsx?|sql|md)$/.test(name))
        .map((name) => readFile(join(projectRoot, folder, name), 'utf8')),
    )
  })
  return (await Promise.all(found)).flat()
}

it('lists the case of each test that begins with one', async () => {
  const named = (await textsOf('test')).flatMap((text) =>
    [...text.matchAll(/['"`]((?:[A-Z]\d(?:, )?)+): /g)].flatMap(([, cases = '']) =>
      cases.split(', '),
    ),
  )
  const distinct = [...new Set(named)]
  expect(distinct.length).toBeGreaterThan(25)
  expect(distinct.filter((name) => !listed.includes(name))).toEqual([])
})

it('lists each invariant', async () => {
  const texts = await textsOf('src', 'migrations', 'docs', 'test')
  const named = texts.flatMap((text) => text.match(/\bINV-[A-Z]+-\d\b/g) ?? [])
  const distinct = [...new Set(named)]
  expect(distinct.length).toBeGreaterThan(2)
  expect(distinct.filter((name) => !listed.includes(name))).toEqual([])
})
