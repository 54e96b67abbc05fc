/** Writes the generated parts of the documents; with --check, fails where one is out of date. */

import { readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { URL } from 'node:url'
import { optionTable } from '../dist/config/options.js'
import { licensesPage } from './licenses/page.js'
import { code, table } from './reference/markdown.js'
import { openApiDocument } from './reference/openapi.js'
import { referencePage } from './reference/page.js'

const begin = '<!-- options: made by `npm run docs` -->\n'
const end = '<!-- /options -->'

/** Each with the text that it should have, made of the one that it has. */
const documents = [
  { path: 'README.md', make: (text) => withOptions(text) },
  { path: 'docs/reference.md', make: () => referencePage() },
  { path: 'docs/licenses.md', make: () => licensesPage() },
  { path: 'docs/openapi.json', make: () => openApiDocument() },
]

function withOptions(text) {
  const rows = optionTable().map(({ name, default: value, about }) => [code(name), value, about])
  const from = text.indexOf(begin) + begin.length
  const made = table(['name', 'default', 'what it does'], rows)
  return `${text.slice(0, from)}${made}\n${text.slice(text.indexOf(end))}`
}

for (const { path, make } of documents) {
  const file = new URL(`../${path}`, import.meta.url)
  const text = await readFile(file, 'utf8').catch(() => '')
  const made = await make(text)
  if (!process.argv.includes('--check')) await writeFile(file, made)
  else if (made !== text) {
    process.stderr.write(`${path} is out of date: run \`npm run docs\`\n`)
    process.exitCode = 1
  }
}
