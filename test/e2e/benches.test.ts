/**
 * All benches in their short form: do they still run, and does everybody in them do the work? Nothing is
 * judged by its time here.
 */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { describeWithKafka, kafkaBrokers } from '../support/kafka.js'

const run = promisify(execFile)

interface Result {
  readonly name: string
  readonly tables: readonly { readonly rows: readonly Record<string, unknown>[] }[]
}

describeWithKafka('the benches', () => {
  describeInBrowser('all of them', () => {
    it('run in their short form, and every figure is one', async () => {
      const { adminUrl } = inject('postgres')
      const servers = ['--postgres', adminUrl, '--kafka', (await kafkaBrokers()).join()]
      const { stdout } = await run(process.execPath, [
        'bench/bench.js',
        'all',
        '--short',
        ...servers,
      ])
      expect(stdout).not.toContain('MISSED')
      const files = [...stdout.matchAll(/^\S+: \d+ s, .*; (\S+\.json)$/gm)].map(([, file]) => file)
      expect(files).toContainEqual(expect.stringMatching(/provision\.short\.json$/))
      for (const file of files) {
        const { name, tables } = JSON.parse(await readFile(String(file), 'utf8')) as Result
        const figures = tables.flatMap(({ rows }) => rows.flatMap((row) => Object.values(row)))
        const numbers = figures.filter((figure) => typeof figure === 'number')
        expect(numbers.length, name).toBeGreaterThan(0)
        for (const figure of numbers) expect(figure, name).toBeGreaterThanOrEqual(0)
        // What is no number in JSON, as after a division by nothing, comes back as null.
        expect(figures, name).not.toContain(null)
      }
    }, 300_000)
  })
})
