/** The statement that docs/adopting.md shows to a messenger's developers, run as it stands there. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { readMarkdownFile } from '../support/documents.js'
import { fillIn } from '../support/runbook-shell.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()

it('makes an intention with its member, and none a second time', async () => {
  const { text } = await readMarkdownFile('docs/adopting.md')
  const [, block = ''] = /^ *```sql\n([\s\S]*?)^ *```/m.exec(text) ?? []
  const [dealId, userId] = [randomUUID(), randomUUID()]
  const statement = fillIn(block, { DEAL_ID: dealId, USER_ID: userId })
  await database().query(statement)
  await database().query(statement)
  const rows = await database().query(
    `select p.deal_id, p.status, p.title, m.user_id, m.role
     from messenger.deal_chat_provisions p
     join messenger.deal_chat_provision_members m on m.provision_id = p.id`,
  )
  expect(rows).toEqual([
    {
      deal_id: dealId,
      status: 'Provisioning',
      title: 'Riverside 7',
      user_id: userId,
      role: 'Owner',
    },
  ])
})
