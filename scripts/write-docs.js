/** Writes the generated parts of the documents; with --check, fails where one is out of date. */

import { readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { URL } from 'node:url'
import { optionTable } from '../dist/config/options.js'

const readme = new URL('../README.md', import.meta.url)
const begin = '<!-- options: made by `npm run docs` -->\n'
const end = '<!-- /options -->'

const rows = optionTable().map(
  (option) =>
    `| \`${option.name}\` | ${option.default || '–'} | ${option.about.replaceAll('|', '\\|')} |`,
)
const table = ['| name | default | what it does |', '|---|---|---|', ...rows, ''].join('\n')

const text = await readFile(readme, 'utf8')
const from = text.indexOf(begin) + begin.length
const made = text.slice(0, from) + table + text.slice(text.indexOf(end))

if (process.argv.includes('--check')) {
  if (made !== text) {
    process.stderr.write('README.md is out of date: run `npm run docs`\n')
    process.exitCode = 1
  }
} else {
  await writeFile(readme, made)
}
