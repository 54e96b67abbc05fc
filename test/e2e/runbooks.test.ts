/**
 * The three scenarios that on-call meets, from the alert to green: a real Prometheus with the shipped
 * rules, and then nothing but what the alert's runbook says, line by line.
 */

import pg from 'pg'
import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { lockKeys } from '../../src/postgres/session-lock.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { describeWithPrometheus } from '../support/promtool.js'
import { fillIn, openRunbook, type Filling, type Runbook } from '../support/runbook-shell.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { startWatchedService, type WatchedService } from '../support/watched-service.js'

const database = useTestDatabase()

/** Of the poison runbook's table: what is to be mended where the code says so. */
function remedyFor(runbook: Runbook, code: string): string {
  const [, remedy] = new RegExp(`\`${code}\`[^|]*\\| \\*(\\w+)\\*`).exec(runbook.text) ?? []
  if (remedy === undefined) throw new Error(`the runbook knows no remedy for ${code}`)
  return runbook.statementFor(remedy)
}

describeWithPrometheus('the runbooks lead from the alert to green', () => {
  let watched: WatchedService | undefined
  const watch = async (options: Readonly<Record<string, string>>): Promise<WatchedService> =>
    (watched = await startWatchedService({ DATABASE_URL: database().url, ...options }))

  afterEach(async () => {
    await watched?.stop()
    await sql`truncate messenger.deal_chat_provisions, messenger.outbox_events cascade`.execute(
      database().admin,
    )
  })

  it('poison: the row, its cause, the mending, the audit', async () => {
    const { service, prometheus, shell, firing } = await watch({
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1s',
      CHAT_PROVISION_RETRY_MAX_ATTEMPTS: '2',
      CHAT_PROVISION_RETRY_BACKOFF_BASE: '100ms',
      CHAT_PROVISION_RETRY_BACKOFF_CAP: '100ms',
    })
    const gauge = await prometheus.query('messenger_chat_provision_poison')
    expect(gauge).toEqual([0])
    expect(await firing('ChatProvisionPoison')).toBeUndefined()

    const deal = await seedDeal(database().admin, { title: '  ' })
    await seedDeal(database().admin, { title: 'A deal that goes right' })
    const alert = await waitFor('the alert', () => firing('ChatProvisionPoison'))
    expect(alert.labels).toMatchObject({ severity: 'warning', job: 'worker' })
    const runbook = await openRunbook(alert.annotations['runbook_url'] ?? '')

    // The row, and its cause.
    const [list, show] = runbook.commands('First five minutes')
    const [dealId] = /^[0-9a-f-]{36}(?= )/m.exec(await shell.run(list)) ?? []
    expect(dealId).toBe(deal.dealId)
    const filling: Filling = { DEAL_ID: deal.dealId, NAME: 'ann', TEXT: "'title mended'" }
    const run = (line: string | undefined) => shell.run(line && fillIn(line, filling))
    const [, code = ''] = /guard:(\w+)/.exec(await run(show)) ?? []
    expect(code).toBe('TITLE_BLANK')

    // What the runbook says to this code.
    await database().query(fillIn(remedyFor(runbook, code), filling))
    const [dryRun, requeue] = runbook.commands('Mitigation')
    expect(await run(dryRun)).toMatch(/^1 .*would be/)
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({ attempts: 2 })
    expect(await run(requeue)).toMatch(/^1 /)

    // Well again.
    await waitFor('the alert to end', async () => {
      return (await firing('ChatProvisionPoison')) === undefined
    })
    const [showAgain, listAgain, metric, audit] = runbook.commands('Well again')
    expect(await run(showAgain)).toMatch(/^status +Ready$/m)
    expect(await run(listAgain)).toMatch(/^No provisions match/)
    expect(await run(metric)).toBe('messenger_chat_provision_poison 0\n')
    const recorded = await run(audit)
    for (const word of ['ann', 'requeue', 'title mended']) expect(recorded).toContain(word)
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...readyDeal,
      events: ['Failed', 'Provisioning', 'Ready'],
    })
    expect(service.child.exitCode).toBeNull()
  })

  it('many failures: what they have in common, and all of them on their way again', async () => {
    const { shell, holds, runbookOf } = await watch({
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1s',
    })
    expect(await holds('ChatProvisionFailing')).toBe(false)
    const userId = randomUUID()
    const members = [{ userId, role: 'Boss' }]
    const deals = await Promise.all(
      Array.from({ length: 12 }, () => seedDeal(database().admin, { members })),
    )
    await waitFor('the condition', () => holds('ChatProvisionFailing'))
    const runbook = await openRunbook(await runbookOf('ChatProvisionFailing'))

    const [doctor, list] = runbook.commands('First five minutes')
    expect(await shell.run(doctor)).not.toMatch(/FAILED/)
    expect(await shell.run(list)).toContain('guard:ROLE_UNKNOWN')
    const [common = '', waiting = ''] = runbook.statements('Diagnosis')
    expect(await database().query(common)).toMatchObject([
      { last_error: 'guard:ROLE_UNKNOWN', count: '12', most_attempts: 1 },
    ])
    expect(await database().query(waiting)).toEqual([])

    const byCode = await openRunbook('runbooks/chat-provision-poison.md')
    const remedy = remedyFor(byCode, 'ROLE_UNKNOWN')
    for (const { dealId } of deals) {
      await database().query(fillIn(remedy, { DEAL_ID: dealId, USER_ID: userId }))
    }
    for (const line of runbook.commands('Mitigation')) {
      const filling = { 'CLASS:CODE': 'guard:ROLE_UNKNOWN', NAME: 'ann', TEXT: "'role mended'" }
      expect(await shell.run(fillIn(line, filling))).toMatch(/^12 /)
    }
    const [listAgain, runs] = runbook.commands('Well again')
    await waitFor('the backlog to drain', async () => {
      return (await shell.run(listAgain)).startsWith('No provisions match')
    })
    expect(await shell.run(runs)).toContain('completed')
  })

  it("the worker stands still behind somebody's lock, until its owner lets it go", async () => {
    const { service, shell, holds, runbookOf } = await watch({
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '5s',
    })
    await service.logged('cycle completed')
    await waitFor('silence', async () => !(await holds('ChatProvisionNotRunning')))
    const stranger = new pg.Client({
      connectionString: database().adminUrl,
      application_name: 'stranger',
    })
    await stranger.connect()
    try {
      const { namespace, key } = lockKeys.run
      await stranger.query('select pg_advisory_lock($1, $2)', [namespace, key])
      await waitFor('the condition', () => holds('ChatProvisionNotRunning'))
      const runbook = await openRunbook(await runbookOf('ChatProvisionNotRunning'))

      const [doctor, alive, ready] = runbook.commands('First five minutes')
      expect(await shell.runInVain(doctor)).toContain('stranger')
      expect(await shell.run(alive)).toBe('{"status":"ok"}')
      expect(await shell.run(ready)).toBe('{"status":"ok"}')
      expect(await service.logged('cycle skipped')).toMatchObject({
        reason: expect.stringContaining('stranger') as string,
      })
      const [holders = ''] = runbook.statements('Diagnosis')
      const found = await database().query<{ application_name: string }>(holders)
      expect(found.map(({ application_name: name }) => name)).toContain('stranger')
      const [runOnce] = runbook.commands('Mitigation')
      expect(await shell.run(runOnce)).toContain('"outcome":"skipped"')
    } finally {
      await stranger.end()
    }
    await waitFor('the next cycle', async () => !(await holds('ChatProvisionNotRunning')))
    const runbook = await openRunbook(await runbookOf('ChatProvisionNotRunning'))
    const [runs, lastRun] = runbook.commands('Well again')
    expect(await shell.run(runs)).toContain('completed')
    expect(await shell.run(lastRun)).toMatch(/_seconds \d{10}/)
  })
})
