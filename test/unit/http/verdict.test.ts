/** Is it fine? What the overview says first. */

import { expect, it } from 'vitest'
import type { Summary } from '../../../src/http/api/schemas/action-answers.js'
import { verdictOf } from '../../../src/http/deck/verdict.js'

const nowMs = Date.parse('2026-01-02T03:04:05Z')
const retry = { pollingIntervalMs: 60_000, maxRunDurationMs: 180_000 }

const lastRun: NonNullable<Summary['lastRun']> = {
  ...{ id: '', finishedAt: null, reason: null, asOf: '', host: '', durationMs: null },
  ...{ startedAt: '2026-01-02T03:03:30Z', outcome: 'completed' as const },
  ...{ claimed: 0, provisioned: 0, retried: 0, failed: 0, skipped: 0 },
}

const calm: Summary = {
  ageSeconds: 1,
  isCurrent: true,
  provisions: { backlog: 0, failed: 0, stuck: 0, poison: 0, oldestAgeSeconds: 0 },
  outbox: { relay: 'kafka', backlog: 0, publishLagSeconds: 0, parked: 0, slotLagBytes: null },
  intake: { parked: 0 },
  lastRun,
  jobs: {
    ...{ due: 0, scheduled: 0, running: 0, dead: 0, lagSeconds: 0 },
    ...{ queuesPaused: 0, succeeded: 0, failed: 0, retried: 0 },
  },
}

const judge = (changes: Partial<Summary> = {}, reasons: readonly string[] = []) =>
  verdictOf({ ...calm, ...changes }, reasons, { retry } as never, nowMs)
const texts = (verdict: ReturnType<typeof judge>) => verdict.findings.map(({ text }) => text)

it('nothing to do is fine, and so is what goes again by itself', () => {
  expect(judge()).toMatchObject({ tone: 'good', findings: [] })
  const backlog = judge({ provisions: { ...calm.provisions, backlog: 3, failed: 3 } })
  expect(backlog.tone).toBe('good')
  expect(backlog.sentence).toContain('3 deals will be tried again')
})

it('poison needs somebody, and leads to the deals', () => {
  const verdict = judge({ provisions: { ...calm.provisions, backlog: 1, poison: 1 } })
  expect(verdict).toMatchObject({ tone: 'bad', sentence: 'One thing needs somebody.' })
  expect(verdict.findings[0]?.href).toBe('/deck/provisions?state=poison')
})

it('a parked event, a service that is not ready, and no cycle need somebody too', () => {
  expect(judge({ outbox: { ...calm.outbox, parked: 2 } }).tone).toBe('bad')
  expect(texts(judge({}, ['broker: not reached yet']))).toEqual(['broker: not reached yet'])
  const late = { ...lastRun, startedAt: '2026-01-02T02:58:00Z' }
  expect(texts(judge({ lastRun: late }))).toEqual(['No cycle for 6m 5s.'])
})

it('a message that was set aside leaves a deal without a chat, and leads to it', () => {
  const verdict = judge({ intake: { parked: 1 } })
  expect(verdict).toMatchObject({ tone: 'bad', findings: [{ href: '/deck/intake' }] })
  expect(texts(verdict)).toEqual(['1 message of crm set aside: its deal has no chat.'])
})

it('what waits is worth a look, and comes after what needs somebody', () => {
  const jobs = { ...calm.jobs, queuesPaused: 1, dead: 2 }
  expect(judge({ jobs })).toMatchObject({
    tone: 'warn',
    sentence: 'It works, and is worth a look.',
  })
  const both = judge({ jobs, outbox: { ...calm.outbox, parked: 1 } })
  expect(both.findings.map(({ tone }) => tone)).toEqual(['bad', 'warn', 'warn'])
})

it('the sentence counts all that is listed below it', () => {
  const dead = { jobs: { ...calm.jobs, dead: 2 } }
  const both = { jobs: { ...calm.jobs, queuesPaused: 1, dead: 2 } }
  const parked = { outbox: { ...calm.outbox, parked: 1 } }
  const poison = { provisions: { ...calm.provisions, poison: 5 } }
  expect(judge({ ...parked, ...poison }).sentence).toBe('2 things need somebody.')
  expect(judge({ ...parked, ...dead }).sentence).toBe(
    'One thing needs somebody, and one more is worth a look.',
  )
  expect(judge({ ...parked, ...poison, ...both }, ['broker: away']).sentence).toBe(
    '3 things need somebody, and 2 more are worth a look.',
  )
})

it('old figures are never passed off as new ones', () => {
  const verdict = judge({ isCurrent: false, ageSeconds: 75 })
  expect(verdict.tone).toBe('bad')
  expect(texts(verdict)).toEqual(["The database doesn't answer: these figures are of 1m 15s ago."])
})
