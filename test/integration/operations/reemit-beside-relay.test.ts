/** Re-emits and the job while the relay publishes: each deal is heard in order, its last word is true. */

import { expect, it } from 'vitest'
import type { OutgoingMessage, Publisher } from '../../../src/outbox/publisher.js'
import { reemitProvisions } from '../../../src/operations/reemit-provisions.js'
import { requeueProvisions } from '../../../src/operations/requeue-provisions.js'
import { testTopic, useTestJobs } from '../../support/job.js'
import { seedDeal } from '../../support/deals.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { createTestRelay } from '../outbox/relay-fixtures.js'
import { anna, boris, seedPoisonDeals, useOperators } from './operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
const newJob = useTestJobs(database)

it('reemit, requeue, job and relay at once keep the order of each deal', async () => {
  const deals = await seedPoisonDeals(database(), 20)
  for (let n = 0; n < 20; n += 1) deals.push(await seedDeal(database().admin))
  const heard: OutgoingMessage[] = []
  const publisher: Publisher = {
    publish: (_topic, messages) => {
      heard.push(...messages)
      return Promise.resolve({ kind: 'published' })
    },
  }
  createTestRelay(database(), { topic: testTopic, publisher, pollIntervalMs: 5 }).relay.start()
  const targets = { dealIds: deals.map(({ dealId }) => dealId) }
  const reemitOften = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1)
      await reemitProvisions(newOperator(), { targets, order: { ...anna, reason: `round ${n}` } })
  }
  await Promise.all([
    reemitOften(),
    requeueProvisions(newOperator(), { targets: { filter: { poison: true } }, order: boris }),
    newJob().cycle(),
  ])
  await newJob().cycle()
  await waitFor('all events to be published', async () => {
    const waiting = await database().query(
      'select id from messenger.outbox_events where published_at is null',
    )
    return waiting.length === 0
  })

  const sequences = new Map<string, number[]>()
  const lastWords = new Map<string, string>()
  for (const { key, headers, value } of heard) {
    sequences.set(key, [...(sequences.get(key) ?? []), Number(headers['ce_sequence'])])
    lastWords.set(key, (JSON.parse(value) as { Status: string }).Status)
  }
  expect(sequences.size).toBe(40)
  for (const sequence of sequences.values()) {
    expect(sequence).toEqual([...new Set(sequence)].toSorted((a, b) => a - b))
    // Five re-emits, the job's Ready, and what the re-enqueue of poison says.
    expect(sequence.length).toBeGreaterThanOrEqual(6)
  }
  expect(new Set(lastWords.values())).toEqual(new Set(['Ready']))
})
