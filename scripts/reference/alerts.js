/** The alerts as their rules have them. */

import { readFile } from 'node:fs/promises'
import { URL } from 'node:url'
import { parse } from 'yaml'

const file = new URL('../../runbooks/alerts/chat-provision-retry.rules.yml', import.meta.url)

export async function readAlerts() {
  const { groups } = parse(await readFile(file, 'utf8'))
  return groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr, for: lasting, labels, annotations }) => ({
      name: alert,
      severity: labels.severity,
      condition: expr.trim().replace(/\s+/g, ' '),
      lasting,
      runbook: annotations.runbook_url,
    }))
}
