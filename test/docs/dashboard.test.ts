/** The Grafana dashboard: complete panels, and expressions that Prometheus takes. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { makeTemporaryFolder } from '../../src/demo/servers/server-cache.js'
import { projectRoot } from '../support/documents.js'
import { describeWithPrometheus, runPromtool } from '../support/promtool.js'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: {
    readonly h: number
    readonly w: number
    readonly x: number
    readonly y: number
  }
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

const file = join(projectRoot, 'runbooks/dashboards/chat-provision-retry.json')
const dashboard = JSON.parse(await readFile(file, 'utf8')) as {
  readonly uid: string
  readonly panels: readonly Panel[]
}
const charts = dashboard.panels.filter(({ type }) => type !== 'row')
const expressions = charts.flatMap(({ title, targets }) =>
  (targets ?? []).map(({ expr }) => ({ title, expr })),
)

describe('the dashboard', () => {
  it.each(charts)('$title ($id) has a unit, a description and something to show', (panel) => {
    expect(panel.title).toMatch(/\S/)
    expect(panel.description).toMatch(/^\S.{20,}\S$/)
    expect(['short', 's', 'bytes', 'cpm']).toContain(panel.fieldConfig?.defaults.unit)
    expect(panel.targets?.map(({ refId }) => refId)).toEqual(
      ['A', 'B'].slice(0, panel.targets?.length),
    )
  })

  it('shows all that on-call asks for', () => {
    for (const metric of [
      'messenger_chat_provision_failed',
      'messenger_chat_provision_oldest_age_seconds',
      'messenger_chat_provision_poison',
      'messenger_chat_provision_succeeded_total',
      'messenger_chat_provision_retried_total',
      'messenger_chat_provision_poison_total',
      'messenger_chat_provision_cycle_duration_seconds_bucket',
      'messenger_chat_provision_last_run_timestamp_seconds',
      'messenger_outbox_backlog',
      'messenger_outbox_publish_lag_seconds',
      'messenger_outbox_parked',
      'messenger_outbox_slot_lag_bytes',
      'messenger_intake_parked',
      'chokaq_jobs_failed_total',
      'chokaq_queue_lag_seconds',
      'chokaq_circuit_open',
    ]) {
      expect(expressions.some(({ expr }) => expr.includes(`${metric}{`))).toBe(true)
    }
  })

  it('has no panel over another, and no id twice', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(dashboard.panels.every(({ gridPos: { w, x } }) => x + w <= 24)).toBe(true)
  })
})

describeWithPrometheus('the dashboard', () => {
  it('has only expressions that Prometheus takes', async () => {
    // Grafana fills its variables in before it asks; as recording rules promtool reads them.
    const rules = expressions.map(({ expr }, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(namespace|job)/g, '.*'),
    }))
    const folder = await makeTemporaryFolder('chat-provision-retry-dashboard-')
    const asRules = join(folder, 'panels.rules.yml')
    await writeFile(asRules, stringify({ groups: [{ name: 'panels', rules }] }))
    const checked = await runPromtool(['check', 'rules', asRules])
    await rm(folder, { recursive: true })
    expect(checked).toMatchObject({ exitCode: 0 })
    expect(checked.output).toContain(`${expressions.length} rules found`)
  })
})
