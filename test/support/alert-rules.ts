/** The shipped alert rules and their promtool tests, as data. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface ExpectedAlerts {
  readonly alertname: string
  readonly exp_alerts?: readonly { readonly exp_annotations: Readonly<Record<string, string>> }[]
}

export const rulesFile = pathOf('chat-provision-retry.rules.yml')
export const ruleTestsFile = pathOf('chat-provision-retry.test.yml')

export async function readAlertRules(): Promise<AlertRule[]> {
  const { groups } = await readYaml<{ groups: { rules: AlertRule[] }[] }>(rulesFile)
  return groups.flatMap(({ rules }) => rules)
}

/** What the promtool tests expect, in their order. */
export async function readExpectedAlerts(): Promise<ExpectedAlerts[]> {
  const { tests } = await readYaml<{ tests: { alert_rule_test?: ExpectedAlerts[] }[] }>(
    ruleTestsFile,
  )
  return tests.flatMap(({ alert_rule_test: expected }) => expected ?? [])
}

async function readYaml<T>(file: string): Promise<T> {
  return parse(await readFile(file, 'utf8')) as T
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../runbooks/alerts/${name}`, import.meta.url))
}
