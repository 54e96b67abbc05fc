/** Metrics, options, log events and alerts that a rule, the dashboard or a document names are there. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { optionTable } from '../../src/config/options.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { readAlertRules } from '../support/alert-rules.js'
import { projectRoot, proseOf, readMarkdown, readMarkdownFile } from '../support/documents.js'

const exposed = new Set<string>()
for (const relay of ['kafka', 'off'] as const) {
  const metrics = createMetrics({ relay, ofProcess: true })
  for (const [name] of (await metrics.render()).body.matchAll(
    /^(?:messenger|chokaq|process|nodejs)_\w+/gm,
  ))
    exposed.add(name)
  // A histogram's own name has no sample.
  for (const { name, type } of metrics.table()) {
    exposed.add(name)
    // One with labels has none either, before the first observation.
    if (type === 'histogram') exposed.add(`${name}_bucket`)
  }
}

const { text: reference } = await readMarkdownFile('docs/reference.md')
const logEvents = [...reference.matchAll(/^\| `([a-z ]+)` \|/gm)].map(([, name = '']) => name)
const optionNames = optionTable().map(({ name }) => name)
const alertNames = (await readAlertRules()).map(({ alert }) => alert)

const documents = await readMarkdown()
const others = await Promise.all(
  [
    'runbooks/alerts/chat-provision-retry.rules.yml',
    'runbooks/alerts/chat-provision-retry.test.yml',
    'runbooks/dashboards/chat-provision-retry.json',
  ].map(async (path) => ({ path, text: await readFile(join(projectRoot, path), 'utf8') })),
)

/** What ends with an underscore is a beginning, such as in `grep ^messenger_outbox_`. */
function unknownMetrics(text: string): string[] {
  const named = text.matchAll(
    /\b(?:messenger_(?:chat_provision|outbox|intake)|chokaq_(?:jobs?|queue|circuit|state)|process|nodejs)_\w*[a-z](?!\w)/g,
  )
  return distinct([...named].map(([name]) => name)).filter((name) => !exposed.has(name))
}

function unknownOptions(text: string): string[] {
  const named = text.matchAll(
    /\b(?:CHAT_PROVISION_RETRY|OUTBOX|DECK|CHOKAQ|INTAKE)_[A-Z_]*[A-Z]\b/g,
  )
  return distinct([...named].map(([name]) => name)).filter((name) => !optionNames.includes(name))
}

function unknownAlerts(text: string): string[] {
  const named = text.matchAll(/\bChatProvision[A-Z]\w+/g)
  return distinct([...named].map(([name]) => name)).filter((name) => !alertNames.includes(name))
}

/** Only after the word that says so: other code spans have spaces too. */
function unknownEvents(text: string): string[] {
  const named = proseOf(text).matchAll(/\b[Ll]og(?:'s)?(?: says)?:? `([a-z][a-z ]+ [a-z ]+)`/g)
  return distinct([...named].map(([, name = '']) => name)).filter(
    (name) => !logEvents.includes(name),
  )
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)]
}

describe('the names', () => {
  it.each([...documents, ...others])('in $path are those of the code', ({ text }) => {
    expect(unknownMetrics(text)).toEqual([])
    expect(unknownAlerts(text)).toEqual([])
    expect(unknownEvents(text)).toEqual([])
  })

  it.each(documents)('of options in $path are those of the code', ({ text }) => {
    expect(unknownOptions(text)).toEqual([])
  })

  it('are looked for in many places, and a wrong one is found', () => {
    const withMetrics = [...documents, ...others].filter(({ text }) => text.includes('messenger_'))
    expect(withMetrics.length).toBeGreaterThan(10)
    expect(logEvents.length).toBeGreaterThan(40)
    expect(unknownMetrics('`messenger_chat_provision_poisons` > messenger_outbox_parked')).toEqual([
      'messenger_chat_provision_poisons',
    ])
    expect(unknownOptions('OUTBOX_RELAYS, OUTBOX_RELAY and CHOKAQ_…')).toEqual(['OUTBOX_RELAYS'])
    expect(unknownAlerts('ChatProvisionPoisoned')).toEqual(['ChatProvisionPoisoned'])
    expect(unknownEvents('the log says `cycle leapt`, or its log `cycle skipped`')).toEqual([
      'cycle leapt',
    ])
  })
})
