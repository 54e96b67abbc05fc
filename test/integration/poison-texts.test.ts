/**
 * P1: errors whose texts can't be stored as they are. The failure is on record all the same, cleaned
 * and within the column, so the row waits like any other and reaches its end.
 */

import { describe, expect, it } from 'vitest'
import type { MessengerChats } from '../../src/provisioning/messenger-chats.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

const nul = '\u0000'
const lone = '\ud83c'
const long = 'x'.repeat(100_000)

const matching = (text: RegExp): unknown => expect.stringMatching(text)

/** An error of the adapter's own kind. */
function poison(fields: { name?: unknown; message?: string; code?: unknown }): Error {
  return Object.assign(new Error(fields.message ?? 'x'), fields)
}

const poisons: [string, () => unknown, string | RegExp][] = [
  ['U+0000 in the name', () => poison({ name: `Chat${nul}Error` }), 'bug:ChatError'],
  ['nothing but U+0000 as the name', () => poison({ name: nul }), 'bug:Error'],
  ['lone surrogates in the name', () => poison({ name: `A${lone}B` }), 'bug:A\ufffdB'],
  ['100 kB of name', () => poison({ name: long }), /^bug:x{500}$/],
  [
    'a name cut inside a pair',
    () => poison({ name: `${'x'.repeat(499)}🏠` }),
    /^bug:x{499}\ufffd$/,
  ],
  ['a name that is a symbol', () => poison({ name: Symbol('name') }), 'bug:Error'],
  ['all of it in the message', () => poison({ message: `${nul}${lone}${long}` }), 'bug:Error'],
  ['all of it in the code', () => poison({ code: `${nul}${lone}${long}` }), 'bug:Error'],
  [
    'a code that resembles a certificate’s',
    () => poison({ code: `CERT_${nul}${long}` }),
    /^contention:CERT_x{495}$/,
  ],
  ['controls for a terminal', () => poison({ name: '\u001b[2J\u001b]0;x\u0007' }), 'bug:[2J]0;x'],
  ['a text that was thrown as it is', () => `${nul}${lone}${long}`, 'bug:string'],
  ['nothing at all', () => undefined, 'bug:undefined'],
]

/** Fails for the deals that are listed, at the given step, as the messenger's own tables do else. */
function chatsThatThrow(
  thrown: Map<string, () => unknown>,
  step: 'findByDeal' | 'create',
): MessengerChats {
  const refuse = (dealId: string): void => {
    const make = thrown.get(dealId)
    if (make !== undefined) throw make()
  }
  return {
    ...referenceChats,
    creation: undefined,
    async findByDeal(trx, dealId) {
      if (step === 'findByDeal') refuse(dealId)
      return referenceChats.findByDeal(trx, dealId)
    },
    async create(trx, chat) {
      const created = await referenceChats.create(trx, chat)
      if (step === 'create') refuse(chat.dealId)
      return created
    },
  }
}

describe('P1 an adapter that throws', () => {
  it.each(poisons)('%s is recorded once a cycle and becomes poison', async (_, make, lastError) => {
    const deal = await seedDeal(database().admin, { attempts: 8 })
    const good = await seedDeal(database().admin)
    const chats = chatsThatThrow(new Map([[deal.dealId, make]]), 'create')
    const job = newJob({ chats })
    const recorded = {
      status: 'Failed',
      backedOff: true,
      chats: 0,
      feedRows: 0,
      lastError: typeof lastError === 'string' ? lastError : matching(lastError),
    }

    expect(await job.cycle()).toMatchObject({ outcome: 'completed', retried: 1, provisioned: 1 })
    const first = await dealState(database().admin, deal.dealId)
    expect(first).toMatchObject({ ...recorded, attempts: 9, events: [] })
    expect(first.lastError?.length).toBeLessThanOrEqual(512)
    expect(await dealState(database().admin, good.dealId)).toMatchObject(readyDeal)

    // It waits, as every row that failed.
    expect(await job.cycle()).toMatchObject({ claimed: 0 })
    await database().query(
      'update messenger.deal_chat_provisions set next_attempt_at = now() where deal_id = $1',
      [deal.dealId],
    )
    expect(await job.cycle()).toMatchObject({ claimed: 1, failed: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...recorded,
      attempts: 10,
      events: ['Failed'],
    })
  })

  it('all of these at once, before anything is written: none holds up the rest', async () => {
    const thrown = new Map<string, () => unknown>()
    for (const [, make] of poisons) {
      thrown.set((await seedDeal(database().admin, { age: '20 minutes' })).dealId, make)
    }
    const good = await seedDeal(database().admin)
    const job = newJob({ chats: chatsThatThrow(thrown, 'findByDeal') })

    expect(await job.cycle()).toMatchObject({
      outcome: 'completed',
      retried: poisons.length,
      provisioned: 1,
    })
    expect(await dealState(database().admin, good.dealId)).toMatchObject(readyDeal)
    for (const line of job.lines.filter(({ event }) => event === 'provision retry')) {
      expect(String(line['errorCode']).length).toBeLessThanOrEqual(512)
      expect(String(line['errorCode'])).toMatch(/^\P{Control}+$/u)
    }
  })
})
