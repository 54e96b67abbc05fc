/** The AsyncAPI document is sound by AsyncAPI's own parser, and says what the schemas say. */

import { fileURLToPath } from 'node:url'
import { fromFile, Parser } from '@asyncapi/parser'
import { expect, test } from 'vitest'

test('contracts/asyncapi.yaml has no faults, and names topic, key, headers and payload', async () => {
  const path = fileURLToPath(new URL('../../contracts/asyncapi.yaml', import.meta.url))
  const { document, diagnostics } = await fromFile(new Parser(), path).parse()
  // 0 is an error, 1 a warning; below are matters of taste.
  const faults = diagnostics.filter(({ severity }) => /[01]/.test(String(severity)))
  expect(faults.map(({ message, path: at }) => `${at.join('.')}: ${message}`)).toEqual([])
  const channel = document?.channels().get('dealChatStatusChanged')
  expect(channel?.address()).toBe('pin.messenger.deal-chat-status-changed.v1')
  const message = channel?.messages().get('DealChatStatusChanged')
  expect(message?.payload()?.json()).toMatchObject({
    schema: { required: ['DealId', 'ChatId', 'Status', 'OccurredAt'] },
  })
  expect(message?.headers()?.json()).toMatchObject({
    schema: { properties: { ce_sequence: {} } },
  })
})
