/** The generated reference against a plain search through the source: its maker overlooks nothing. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { projectRoot, readMarkdownFile } from '../support/documents.js'

const { text: reference } = await readMarkdownFile('docs/reference.md')

async function sourceTexts(): Promise<string[]> {
  const folder = join(projectRoot, 'src')
  const names = await readdir(folder, { recursive: true })
  return Promise.all(
    names
      .filter((name) => name.endsWith('.ts') && !name.startsWith('demo'))
      .map((name) => readFile(join(folder, name), 'utf8')),
  )
}

describe('the reference', () => {
  it('has every event that a line of the source names', async () => {
    const written = (await sourceTexts()).flatMap((text) => [
      ...text.matchAll(/\bevent: '([^']+)'|\blog[A-Z]\w*\(\s*[\w.#]+,\s*'([^']+)'/g),
    ])
    const events = [...new Set(written.map(([, direct, byTable]) => direct ?? byTable))]
    expect(events.length).toBeGreaterThan(40)
    expect(events.filter((event) => !reference.includes(`| \`${event ?? ''}\` |`))).toEqual([])
  })

  it('has every metric that is exposed', () => {
    const exposed = (['kafka', 'off'] as const).flatMap((relay) =>
      createMetrics({ relay, ofProcess: true }).table(),
    )
    expect(exposed.filter(({ name }) => !reference.includes(`| \`${name}\` |`))).toEqual([])
  })

  it('has no event without a level', () => {
    const rows = reference
      .slice(reference.indexOf('## Log events'))
      .matchAll(/^\| `[^|]+\|([^|]+)\|/gm)
    for (const [, level = ''] of rows) expect(level).toMatch(/trace|debug|info|warn|error|fatal/)
  })
})
