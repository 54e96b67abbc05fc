/** Each metric that a rule, the dashboard or a document names is one that /metrics has. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { projectRoot, readMarkdown } from '../support/documents.js'

const exposed = new Set<string>()
for (const relay of ['kafka', 'off'] as const) {
  const { body } = await createMetrics({ relay }).render()
  for (const [name] of body.matchAll(/^messenger_\w+/gm)) exposed.add(name)
  // A histogram's own name has no sample.
  for (const [, name = ''] of body.matchAll(/^# TYPE (\S+)/gm)) exposed.add(name)
}

/** What ends with an underscore is a beginning, such as in `grep ^messenger_outbox_`. */
function unknownNames(text: string): string[] {
  const named = text.matchAll(/\bmessenger_(?:chat_provision|outbox)_\w*[a-z](?!\w)/g)
  return [...new Set([...named].map(([name]) => name))].filter((name) => !exposed.has(name))
}

const files = [
  ...(await readMarkdown()),
  ...(await Promise.all(
    [
      'runbooks/alerts/chat-provision-retry.rules.yml',
      'runbooks/alerts/chat-provision-retry.test.yml',
      'runbooks/dashboards/chat-provision-retry.json',
    ].map(async (path) => ({ path, text: await readFile(join(projectRoot, path), 'utf8') })),
  )),
].filter(({ text }) => text.includes('messenger_'))

describe('the metrics named', () => {
  it.each(files)('in $path are there', ({ text }) => {
    expect(unknownNames(text)).toEqual([])
  })

  it('are looked for in many places, and a wrong one is found', () => {
    expect(files.length).toBeGreaterThan(10)
    expect(unknownNames('`messenger_chat_provision_poisons` > messenger_outbox_parked')).toEqual([
      'messenger_chat_provision_poisons',
    ])
  })
})
