/** `serve` where no row can be worked, whatever the row: it says so, is not ready, and spends no attempt. */

import { afterEach, expect, it } from 'vitest'
import { startCli, type RunningCli } from '../support/cli.js'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
let service: RunningCli | undefined

afterEach(async () => {
  service?.child.kill('SIGTERM')
  await service?.exited
})

const role = 'chat_provision_retry'
const feedIndex = `create unique index ux_chat_events_provisioned on messenger.chat_events (chat_id)
  where type = 'DealChatProvisioned'`

it.each([
  {
    name: 'the rights on chats lack',
    wrong: `revoke select, insert on messenger.chats from ${role}`,
    right: `grant select, insert on messenger.chats to ${role}`,
    reason: /^database: .* lacks select on messenger\.chats.*grants\/worker\.sql/,
  },
  {
    name: 'the rights on its own attempts lack',
    wrong: `revoke insert on messenger.chat_provision_attempts from ${role}`,
    right: `grant insert on messenger.chat_provision_attempts to ${role}`,
    reason: /^database: .* lacks insert on messenger\.chat_provision_attempts/,
  },
  {
    name: 'the rights on the record of runs lack',
    wrong: `revoke insert on messenger.chat_provision_runs from ${role}`,
    right: `grant insert on messenger.chat_provision_runs to ${role}`,
    reason: /^database: .* lacks insert on messenger\.chat_provision_runs/,
  },
  {
    name: 'nothing keeps a deal from getting two chats',
    wrong: 'alter table messenger.chats drop constraint ux_chats_deal_id',
    right: 'alter table messenger.chats add constraint ux_chats_deal_id unique (deal_id)',
    reason: /^database: .*create unique index concurrently on messenger\.chats \(deal_id\)\.$/,
  },
  {
    name: 'nothing keeps a chat from being told of twice',
    wrong: 'drop index messenger.ux_chat_events_provisioned',
    right: feedIndex,
    reason:
      /^database: .*on messenger\.chat_events \(chat_id\) where type = 'DealChatProvisioned'\.$/,
  },
  {
    name: 'a column of the messenger lacks',
    wrong: 'alter table messenger.chats rename project_id to project',
    right: 'alter table messenger.chats rename project to project_id',
    reason: /^database: messenger\.chats has no column project_id: add it/,
  },
])('$name: waits, not ready, and goes on by itself', async ({ wrong, right, reason }) => {
  await database().query(wrong)
  try {
    const { dealId } = await seedDeal(database().admin)
    service = startCli(['serve'], {
      DATABASE_URL: database().url,
      OUTBOX_RELAY: 'stdout',
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
      HTTP_PORT: '0',
    })
    const address = String((await service.logged('http listening'))['address'])
    await service.logged('cycle waiting')
    const ready = await fetch(`${address}/readyz`)
    const { reasons = [] } = (await ready.json()) as { reasons?: string[] }
    expect(ready.status).toBe(503)
    expect(reasons).toContainEqual(expect.stringMatching(reason))
    expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: 0 })

    await database().query(right)
    await waitFor('the deal', async () => {
      const { status } = await dealState(database().admin, dealId)
      return status === 'Ready'
    })
    await waitFor('readiness', async () => (await fetch(`${address}/readyz`)).ok)
  } finally {
    await database()
      .query(right)
      .catch(() => undefined)
  }
})
