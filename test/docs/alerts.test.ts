/** The alert rules: what promtool says of them, and that each is complete, tested and has its runbook. */

import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  readAlertRules,
  readExpectedAlerts,
  rulesFile,
  ruleTestsFile,
} from '../support/alert-rules.js'
import { readMarkdownFile } from '../support/documents.js'
import { describeWithPrometheus, runPromtool } from '../support/promtool.js'

const rules = await readAlertRules()

describeWithPrometheus('promtool', () => {
  it('takes the rules', async () => {
    const checked = await runPromtool(['check', 'rules', rulesFile])
    expect(checked).toMatchObject({ exitCode: 0 })
    expect(checked.output).toContain(`${rules.length} rules found`)
  })

  it('sees each alert silent, firing and silent again', async () => {
    expect(await runPromtool(['test', 'rules', ruleTestsFile])).toMatchObject({ exitCode: 0 })
  })
})

describe('the alert rules', () => {
  it.each(rules)('$alert says how bad it is, what it is, and where to go on', (rule) => {
    expect(['critical', 'warning']).toContain(rule.labels['severity'])
    expect(rule.for).toMatch(/^\d+[sm]$/)
    expect(rule.annotations['summary']).toMatch(/^\S.{10,90}$/)
    expect(rule.annotations['description']).toMatch(/^\S.{40,300}$/)
    expect(rule.annotations['runbook_url']).toBe(`runbooks/${kebab(rule.alert)}.md`)
  })

  it.each(rules)('$alert is tested: silence, its words, silence', async ({ alert }) => {
    const expected = (await readExpectedAlerts()).filter(({ alertname }) => alertname === alert)
    const firing = expected.map(({ exp_alerts: alerts }) => (alerts ?? []).length > 0)
    expect(firing.join()).toMatch(/^(false,)+true,false$/)
  })

  it('and the runbooks belong to each other, one to one', async () => {
    const files = await readdir(new URL('../../runbooks', import.meta.url))
    const ofAlerts = files.filter((name) => /^chat-provision-(?!retry\.md$).*\.md$/.test(name))
    expect(ofAlerts.sort()).toEqual(rules.map(({ alert }) => `${kebab(alert)}.md`).sort())
  })
})

describe('the index of runbooks', () => {
  it.each(rules)('has $alert with its severity', async ({ alert, labels }) => {
    const { text } = await readMarkdownFile('runbooks/README.md')
    expect(text).toContain(`| [${alert}](${kebab(alert)}.md) | ${labels['severity'] ?? ''} |`)
  })
})

function kebab(name: string): string {
  return name.replace(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
}
