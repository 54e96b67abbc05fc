/** Each link of the documents that stays in the project leads to a file, and to a heading in it. */

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { headingFragments, projectRoot, proseOf, readMarkdown } from '../support/documents.js'

const files = await readMarkdown()
const fragments = new Map(files.map(({ path, text }) => [path, headingFragments(text)]))

function linksOf(text: string): string[] {
  return [...proseOf(text).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

function brokenLinks(path: string, text: string): string[] {
  return linksOf(text).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [target = '', fragment] = link.split('#')
    const file = target === '' ? path : join(dirname(path), target)
    if (!existsSync(join(projectRoot, file))) return true
    return fragment !== undefined && fragments.get(file)?.includes(fragment) !== true
  })
}

/** Paths from the project's root, in whatever text file. */
async function namedDocuments(folder: string): Promise<string[]> {
  const entries = await readdir(join(projectRoot, folder), { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
  )
  return texts.flatMap((text) =>
    [...text.matchAll(/(?<![\w./])(?:runbooks|docs|contracts|deploy)\/[\w./-]+\.md\b/g)].map(
      ([path]) => path,
    ),
  )
}

describe('the documents', () => {
  it.each(files)('$path links to what is there', ({ path, text }) => {
    expect(brokenLinks(path, text)).toEqual([])
  })

  it('are there where an error, a rule or a configuration names them', async () => {
    const named = await Promise.all(
      ['src', 'deploy', 'runbooks', 'scripts', 'migrations'].map(namedDocuments),
    )
    expect(named.flat().length).toBeGreaterThan(10)
    expect(named.flat().filter((path) => !existsSync(join(projectRoot, path)))).toEqual([])
  })

  it('have links to check, with headings among them', () => {
    const links = files.flatMap(({ text }) => linksOf(text))
    expect(links.filter((link) => !/^[a-z]+:/.test(link)).length).toBeGreaterThan(40)
    expect(links.filter((link) => link.includes('#')).length).toBeGreaterThan(10)
  })

  it('notices a file, and a heading, that is not there', () => {
    const text = '[a](nowhere.md) [b](README.md#nothing) [c](runbooks/README.md#the-alerts)'
    expect(brokenLinks('README.md', text)).toEqual(['nowhere.md', 'README.md#nothing'])
  })
})
