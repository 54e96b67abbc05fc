/** What the facts of one deal give: nothing where all agrees, each disagreement by its name. */

import { describe, expect, it } from 'vitest'
import { discrepanciesOf, type DealFacts } from '../../../src/operations/discrepancy.js'

const chat = {
  id: 'c1',
  kind: 'Deal',
  status: 'Active',
  dealTenantId: null,
  hasFeedRow: true,
  membersMissing: 0,
  membersLeft: 0,
}

const inOrder: DealFacts = {
  id: 'p1',
  dealId: 'd1',
  status: 'Ready',
  attempts: 1,
  tenantId: null,
  isDueAfresh: false,
  chatId: 'c1',
  chat,
  members: 3,
  isRecent: true,
  lastWord: { status: 'Ready', chatId: 'C1' },
}

const names = (facts: Partial<DealFacts>) =>
  discrepanciesOf({ ...inOrder, ...facts }, 10).map(({ name }) => name)

describe('discrepancies', () => {
  it.each<[string, Partial<DealFacts>, string[]]>([
    ['all agrees', {}, []],
    ['its chat was archived since', { chat: { ...chat, status: 'Archived' } }, []],
    ['someone has left since', { chat: { ...chat, membersLeft: 1 } }, []],
    ['Ready long ago, its events deleted', { isRecent: false, lastWord: null }, []],
    ['Ready without a chat', { chat: null }, ['READY_WITHOUT_CHAT']],
    ['another chat', { chat: { ...chat, id: 'c2' } }, ['CHAT_DIFFERS']],
    ['of another kind', { chat: { ...chat, kind: 'Group' } }, ['CHAT_UNFIT']],
    ['of another tenant', { tenantId: 't', chat: { ...chat, dealTenantId: 'u' } }, ['CHAT_UNFIT']],
    [
      'no feed row, members missing',
      { chat: { ...chat, hasFeedRow: false, membersMissing: 2 } },
      ['FEED_ROW_MISSING', 'MEMBERS_MISSING'],
    ],
    ['crm heard nothing', { lastWord: null }, ['READY_EVENT_MISSING']],
    [
      'crm heard Failed last',
      { lastWord: { status: 'Failed', chatId: null } },
      ['READY_EVENT_MISSING'],
    ],
    [
      'crm heard of another chat',
      { lastWord: { status: 'Ready', chatId: 'c9' } },
      ['READY_EVENT_MISSING'],
    ],
    ['failing, no chat yet', { status: 'Failed', chat: null, lastWord: null }, []],
    [
      'failing, with a chat',
      { status: 'Failed', chat: { ...chat, hasFeedRow: false } },
      ['CHAT_BUT_NOT_READY', 'FEED_ROW_MISSING'],
    ],
    [
      'failing for the chat that is there',
      { status: 'Failed', chat: { ...chat, status: 'Archived', hasFeedRow: false } },
      ['CHAT_BUT_NOT_READY'],
    ],
    [
      'out of attempts, crm heard Provisioning',
      {
        status: 'Failed',
        attempts: 10,
        chat: null,
        lastWord: { status: 'Provisioning', chatId: null },
      },
      ['FAILED_EVENT_MISSING'],
    ],
    [
      'out of attempts, crm knows',
      { status: 'Failed', attempts: 12, chat: null, lastWord: { status: 'Failed', chatId: null } },
      [],
    ],
  ])('%s', (_, facts, expected) => {
    expect(names(facts)).toEqual(expected)
  })
})
