/** Each action of The Deck from the click to the database, and what is said where it can't be done. */

import type { Page } from 'playwright-core'
import { beforeEach, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { seedEvent } from '../integration/http-api-fixtures.js'
import { emptyTables, useDeck } from './deck-fixtures.js'
import { confirm, main, notice, useVisits } from './deck-visits.js'

const database = useTestDatabase()
const maxAttempts = 10

describeInBrowser('an action', () => {
  const deck = useDeck(database)
  const at = useVisits(deck)
  beforeEach(() => emptyTables(database()))

  /** What is told beside a field, and read out with it; the cursor is there. */
  async function faultOf(page: Page, label: string): Promise<string | null> {
    const field = page.getByLabel(label)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const id = (await field.getAttribute('aria-describedby')) ?? ''
    expect(await page.locator(':focus').getAttribute('aria-describedby')).toBe(id)
    expect(await page.getByRole('alert').getAttribute('id')).toBe(id)
    return page.locator(`#${id}`).textContent()
  }
  const audit = () =>
    database().query<{ actor: string; action: string }>(
      'select actor, action from messenger.chat_provision_audit order by id',
    )
  const poison = () => seedDeal(database().admin, { attempts: maxAttempts })
  const state = ({ dealId }: { readonly dealId: string }) => dealState(database().admin, dealId)

  it('re-enqueues a deal from its page, and takes it back from the notice', async () => {
    const deal = await poison()
    const page = await at(`/provisions/${deal.dealId}`)
    expect(await main(page).textContent()).toContain('Nothing by itself: it is out of attempts.')
    await page.getByRole('link', { name: 'Re-enqueue' }).click()
    await confirm(page, 'Re-enqueue')
    await notice(page, '1 deal re-enqueued')
    expect(await state(deal)).toMatchObject({ attempts: 0, events: ['Provisioning'] })
    await page.getByRole('link', { name: 'Take it back' }).click()
    await confirm(page, 'Take back')
    await notice(page, '1 row taken back')
    expect(page.url()).toBe(deck().url(`/provisions/${deal.dealId}`))
    expect(await state(deal)).toMatchObject({
      attempts: maxAttempts,
      events: ['Provisioning', 'Failed'],
    })
    expect(await audit()).toEqual([
      { actor: 'anna', action: 'requeue' },
      { actor: 'anna', action: 'undo' },
    ])
    expect(await main(page).textContent()).toContain('taken back')
  })

  it('that someone else was quicker with is told in place, with what was typed', async () => {
    const deal = await poison()
    const page = await at(`/provisions/${deal.dealId}`, /409|400/)
    await page.getByRole('link', { name: 'Re-enqueue' }).click()
    await confirm(page, 'Re-enqueue')
    await page.getByRole('link', { name: 'Take it back' }).click()
    await database().query(`update messenger.deal_chat_provisions set title = 'another'`)
    await confirm(page, 'Take back')
    const fault = page.getByRole('alert')
    expect(await fault.textContent()).toContain('its row was changed since')
    expect(await page.getByLabel('Reason, for the audit').inputValue()).toBe('the cause was mended')
    expect(await state(deal)).toMatchObject({ attempts: 0 })
  })

  it('tells crm again, of one and of chosen ones', async () => {
    const deal = await poison()
    const page = await at('/provisions')
    await page.getByLabel(`Choose deal ${deal.dealId}`).check()
    await page.getByRole('button', { name: 'Tell crm again' }).click()
    await confirm(page, 'Tell crm again')
    await notice(page, 'crm is told of 1 deal')
    expect(await state(deal)).toMatchObject({ attempts: maxAttempts, events: ['Failed'] })
  })

  it('mends what a reconcile has found', async () => {
    const deal = await poison()
    const page = await at(`/provisions/${deal.dealId}`)
    await page.getByRole('link', { name: 'Reconcile' }).click()
    expect(await main(page).textContent()).toContain('FAILED_EVENT_MISSING')
    await confirm(page, 'Mend')
    await notice(page, '1 finding mended')
    expect(await state(deal)).toMatchObject({ events: ['Failed'] })
    await page.getByRole('link', { name: 'Reconcile' }).click()
    expect(await main(page).textContent()).toContain('there is nothing to mend')
  })

  it('on all of a filter wants the number typed, and is done by a job', async () => {
    for (let n = 0; n < 3; n += 1) await poison()
    const page = await at('/provisions?state=poison', /400/)
    await page.getByRole('link', { name: 'Re-enqueue all' }).click()
    expect(await main(page).textContent()).toContain('3 deals by poison')
    await page.getByLabel('Type 3 to confirm').fill('2')
    await confirm(page, 'Re-enqueue all')
    expect(await faultOf(page, 'Type 3 to confirm')).toContain('Type 3 to confirm')
    expect(await page.getByLabel('Reason, for the audit').inputValue()).toBe('the cause was mended')
    await page.getByLabel('Type 3 to confirm').fill('3')
    await confirm(page, 'Re-enqueue all')
    await notice(page, 'A job goes through 3 deals')
    await page.getByRole('link', { name: 'See the job' }).click()
    await waitFor('the job to end', async () => {
      const rows = await database().query('select id from chokaq.jobs_archive')
      return rows.length === 1
    })
    const left = await database().query(
      'select id from messenger.deal_chat_provisions where attempts > 0',
    )
    expect(left).toEqual([])
  })

  it('replays and skips an event, and takes the skip back', async () => {
    const id = await seedEvent(database())
    const isIn = async (expected: string) => {
      const { body } = await deck().ask(`/outbox/${id}`)
      expect(body).toMatchObject({ state: expected })
    }
    const page = await at('/outbox?state=parked')
    await page.getByRole('link', { name: id }).click()
    await page.getByRole('link', { name: 'Skip', exact: true }).click()
    await confirm(page, 'Skip')
    await notice(page, 'The event is skipped')
    await isIn('skipped')
    await page.getByRole('link', { name: 'Take it back' }).click()
    await confirm(page, 'Take back')
    await notice(page, '1 row taken back')
    await isIn('parked')
    await page.getByRole('link', { name: 'Replay' }).click()
    await confirm(page, 'Replay')
    await notice(page, 'goes out again')
    await isIn('pending')
  })

  it('that an event no longer bears is told in place', async () => {
    const id = await seedEvent(database())
    const page = await at(`/outbox/${id}/skip`, /409/)
    await page.getByLabel('Reason, for the audit').fill('crm knows')
    await database().query('update messenger.outbox_events set published_at = now()')
    await main(page).getByRole('button', { name: 'Skip' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('published already')
    expect(await page.getByLabel('Reason, for the audit').inputValue()).toBe('crm knows')
  })

  it('pauses a queue, limits it, and takes that back', async () => {
    await database().query(`insert into chokaq.queues (name) values ('operations')`)
    const settings = async () =>
      (
        await database().query(
          `select paused, max_workers from chokaq.queues where name = 'operations'`,
        )
      )[0]
    const page = await at('/queues', /400/)
    await page.getByRole('link', { name: 'Pause operations' }).click()
    await confirm(page, 'Pause')
    await notice(page, 'operations is paused')
    expect(await settings()).toEqual({ paused: true, max_workers: null })
    await page.getByRole('link', { name: 'Take it back' }).click()
    await confirm(page, 'Take back')
    await notice(page, '1 row taken back')
    expect(await settings()).toEqual({ paused: false, max_workers: null })
    await page.getByRole('link', { name: 'Limit operations' }).click()
    expect(await page.getByLabel('Jobs at once').inputValue()).toBe('none')
    await page.getByLabel('Jobs at once').fill('many')
    await confirm(page, 'Limit')
    expect(await faultOf(page, 'Jobs at once')).toContain('whole number from 1 to 10000')
    await page.getByLabel('Jobs at once').fill('7')
    await confirm(page, 'Limit')
    await notice(page, 'operations has its limit')
    expect(await settings()).toEqual({ paused: false, max_workers: 7 })
    await page.getByRole('link', { name: 'Limit operations' }).click()
    expect(await page.getByLabel('Jobs at once').inputValue()).toBe('7')
  })

  it('opens a queue again that is paused', async () => {
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    const page = await at('/queues')
    await page.getByRole('link', { name: 'Resume operations' }).click()
    expect(await main(page).textContent()).toContain('operations is paused')
    await confirm(page, 'Resume')
    await notice(page, 'operations is open again')
    const [queue] = await database().query('select paused from chokaq.queues')
    expect(queue).toEqual({ paused: false })
    expect(await audit()).toEqual([{ actor: 'anna', action: 'queue-change' }])
  })

  it('puts a job forward, cancels it, and brings it back with another payload', async () => {
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    const body = { filter: { poison: true }, reason: 'mended' }
    await poison()
    const { jobId } = (await deck().post('/provisions/requeue', body)).body
    const id = String(jobId)
    const job = async () => (await deck().ask(`/jobs/${id}`)).body
    const page = await at('/jobs', /400/)
    await page.getByRole('link', { name: id }).click()
    await page.getByRole('link', { name: 'Change priority' }).click()
    await page.getByLabel('Priority').fill('90')
    await confirm(page, 'Change priority')
    await notice(page, 'priority 90')
    expect(await job()).toMatchObject({ priority: 90 })
    await page.getByRole('link', { name: 'Cancel' }).click()
    await confirm(page, 'Cancel')
    await notice(page, 'cancelled')
    expect(await job()).toMatchObject({ state: 'Cancelled' })
    await page.getByRole('link', { name: 'Edit and resurrect' }).click()
    expect(JSON.parse(await page.getByLabel('Payload, JSON').inputValue())).toMatchObject(body)
    expect(await main(page).locator('pre').count()).toBe(0)
    await page.getByLabel('Payload, JSON').fill('{"not": "json')
    await confirm(page, 'Resurrect')
    expect(await faultOf(page, 'Payload, JSON')).toMatch(/JSON/)
    expect(await page.getByLabel('Payload, JSON').inputValue()).toBe('{"not": "json')
    const payload = { filter: { status: 'Failed' }, by: 'anna', reason: 'mended' }
    await page.getByLabel('Payload, JSON').fill(JSON.stringify(payload))
    await page.getByLabel('Tags').fill('by hand, after the outage')
    await page.getByLabel('Priority').fill('101')
    await confirm(page, 'Resurrect')
    expect(await faultOf(page, 'Priority')).toContain('a whole number from 0 to 100')
    expect(await page.getByLabel('Tags').inputValue()).toBe('by hand, after the outage')
    await page.getByLabel('Priority').fill('7')
    await confirm(page, 'Resurrect')
    await notice(page, 'resurrected')
    const after = await job()
    const tags = ['by hand', 'after the outage']
    expect(after).toMatchObject({ state: 'Pending', priority: 7, tags })
    expect(JSON.parse(String(after['payload']))).toEqual(payload)
  })
})
