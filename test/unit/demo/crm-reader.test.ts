/** The reader as crm has it: the last write wins by ce_sequence, and what comes again is dropped. */

import { expect, it } from 'vitest'
import { CrmReader, type ReceivedMessage } from '../../../src/demo/crm-reader.js'

const dealId = '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00'
const chatId = '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c01'

function message(sequence: number, status: string, changes: object = {}): ReceivedMessage {
  const OccurredAt = '2026-01-02T03:04:05.678Z'
  const payload = { DealId: dealId, ChatId: status === 'Ready' ? chatId : null, Status: status }
  return {
    key: dealId,
    headers: { ce_sequence: String(sequence), ce_subject: dealId },
    value: JSON.stringify({ ...payload, OccurredAt }),
    ...changes,
  }
}

function read(...messages: ReceivedMessage[]): CrmReader {
  const reader = new CrmReader([dealId])
  for (const each of messages) reader.take(each)
  return reader
}

it('keeps the statuses in order, and drops what comes again', () => {
  const [failed, ready] = [message(3, 'Failed'), message(10, 'Ready')]
  const reader = read(failed, failed, ready, failed, ready)
  expect(reader.seen(dealId)).toEqual([
    { status: 'Failed', chatId: null, sequence: 3n },
    { status: 'Ready', chatId, sequence: 10n },
  ])
  expect(reader.counts).toEqual({ events: 2, redelivered: 3 })
  expect(reader.faults).toEqual([])
})

it('tells of an event that comes for the first time after a later one of its deal', () => {
  const reader = read(message(10, 'Ready'), message(9, 'Failed'))
  expect(reader.seen(dealId).map(({ status }) => status)).toEqual(['Ready'])
  expect(reader.faults).toEqual([expect.stringContaining('after a later one')])
})

it('reads past the deals of others', () => {
  const reader = read(message(1, 'Ready', { key: chatId, value: 'not ours' }))
  expect(reader.counts.events).toBe(0)
  expect(reader.faults).toEqual([])
})

it.each([
  ['no value', { value: null }],
  ['not JSON', { value: '{' }],
  ['a status of its own', { value: message(1, 'Done').value }],
  ['no ce_sequence', { headers: { ce_subject: dealId } }],
  ['another subject', { headers: { ce_sequence: '1', ce_subject: chatId } }],
  ['another deal than its key', { value: message(1, 'Failed').value?.replace(dealId, chatId) }],
])('names a message with %s', (_, changes) => {
  const reader = read(message(1, 'Failed', changes))
  expect(reader.faults).toHaveLength(1)
  expect(reader.counts.events).toBe(0)
})
