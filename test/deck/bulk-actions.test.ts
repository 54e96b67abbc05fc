/** What is done to the chosen, and to all of a filter, from the click to the database. */

import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { seedEvent } from '../integration/http-api-fixtures.js'
import { emptyTables, useDeck } from './deck-fixtures.js'
import { byAnna, confirm, main, notice, useVisits } from './deck-visits.js'

const database = useTestDatabase()
const maxAttempts = 10

describeInBrowser('an action on many', () => {
  const deck = useDeck(database)
  const at = useVisits(deck)
  beforeEach(() => emptyTables(database()))

  const audit = () =>
    database().query(
      `select actor, action, filter, affected, reason from messenger.chat_provision_audit
       order by id`,
    )
  const untilJobs = (count: number) =>
    waitFor(`${count} jobs to succeed`, async () => {
      const rows = await database().query('select id from chokaq.jobs_archive')
      return rows.length === count
    })
  const events = (dealId: string) =>
    database().query(
      `select payload ->> 'Status' as says from messenger.outbox_events
       where aggregate_id = $1 order by seq`,
      [dealId],
    )

  it('tells crm again of all of a filter, by a job, and of no other deal', async () => {
    const poison = await seedDeal(database().admin, { attempts: maxAttempts })
    const other = await seedDeal(database().admin)
    const page = await at('/provisions?state=poison')
    await page.getByRole('link', { name: 'Tell crm again of all' }).click()
    expect(await main(page).textContent()).toContain('1 deal by poison')
    await confirm(page, 'Tell crm again of all', '1')
    await notice(page, 'A job goes through 1 deal')
    await untilJobs(1)
    expect(await events(poison.dealId)).toEqual([{ says: 'Failed' }])
    expect(await events(other.dealId)).toEqual([])
    expect(await audit()).toContainEqual(
      expect.objectContaining({ actor: 'anna', action: 'reemit', filter: 'poison', affected: 1 }),
    )
  })

  it('reconciles all of a filter, and mends it by a job', async () => {
    const poison = await seedDeal(database().admin, { attempts: maxAttempts })
    const page = await at('/provisions?state=poison')
    await page.getByRole('link', { name: 'Reconcile all' }).click()
    await confirm(page, 'Reconcile all', '1')
    await page.getByRole('link', { name: 'See the job' }).click()
    await untilJobs(1)
    expect(await events(poison.dealId)).toEqual([{ says: 'Failed' }])
    await main(page).getByText('FAILED_EVENT_MISSING').waitFor()
  })

  it('mends what a reconcile of the chosen has found, and leaves what it has not', async () => {
    const poison = await seedDeal(database().admin, { attempts: maxAttempts })
    const other = await seedDeal(database().admin, { attempts: 1 })
    const page = await at('/provisions')
    await page.getByLabel('Choose all on this page').check()
    await page.getByRole('button', { name: 'Reconcile' }).click()
    await confirm(page, 'Mend')
    await notice(page, '1 finding mended')
    expect(await events(poison.dealId)).toEqual([{ says: 'Failed' }])
    expect(await events(other.dealId)).toEqual([])
  })

  async function seedJobs(dead: number, live: number): Promise<readonly string[]> {
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    const payload = JSON.stringify({ filter: { poison: true }, by: 'anna', reason: 'x' })
    const rows = await database().query<{ id: string }>(
      `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
         created_at, reason, details)
       select lpad(i::text, 26, '0'), 'operations', 'provision.requeue.v1', $1, 10, 4, 3, '{}',
         now(), 'FatalError', case when i % 2 = 0 then 'the table is missing' else 'else' end
       from generate_series(1, $2::int) i returning id`,
      [payload, dead],
    )
    await database().query(
      `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
       select lpad((100 + i)::text, 26, '0'), 'operations', 'provision.requeue.v1', $1, 10
       from generate_series(1, $2::int) i`,
      [payload, live],
    )
    return rows.map(({ id }) => id)
  }
  const count = async (table: string) => (await database().query(`select from ${table}`)).length

  it('brings the chosen dead jobs back', async () => {
    const [first = '', second = ''] = await seedJobs(3, 0)
    const page = await at('/jobs?place=dlq')
    await page.getByLabel(`Choose job ${first}`).check()
    await page.getByLabel(`Choose job ${second}`).check()
    await page.getByText('2 chosen').waitFor()
    await page.getByRole('button', { name: 'Resurrect' }).click()
    await confirm(page, 'Resurrect')
    await notice(page, '2 jobs resurrected')
    expect(page.url()).toBe(deck().url('/jobs?place=dlq'))
    expect([await count('chokaq.jobs_hot'), await count('chokaq.jobs_dlq')]).toEqual([2, 1])
    expect(await audit()).toMatchObject([
      // As they are listed: the latest first.
      { ...byAnna, action: 'job-resurrect', filter: `job=${second}` },
      { ...byAnna, action: 'job-resurrect', filter: `job=${first}` },
    ])
  })

  it('brings back all dead jobs of a filter, after their number was typed', async () => {
    await seedJobs(5, 0)
    const page = await at('/jobs?place=dlq', /400/)
    await page.getByLabel('Error contains').fill('TABLE IS missing')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('link', { name: 'Resurrect all of these' }).click()
    expect(await main(page).textContent()).toContain('2 jobs by place=dlq error=TABLE IS missing')
    await page.getByLabel('Type 2 to confirm').fill('5')
    await confirm(page, 'Resurrect all')
    expect(await page.getByRole('alert').textContent()).toContain('Type 2 to confirm')
    expect(await count('chokaq.jobs_dlq')).toBe(5)
    await confirm(page, 'Resurrect all', '2')
    await notice(page, '2 jobs resurrected')
    expect([await count('chokaq.jobs_hot'), await count('chokaq.jobs_dlq')]).toEqual([2, 3])
    expect(await audit()).toEqual([
      {
        ...byAnna,
        action: 'job-resurrect',
        filter: 'place=dlq error=TABLE IS missing',
        affected: 2,
      },
    ])
  })

  it('of which there are too many for once does the oldest, and says so', async () => {
    await seedJobs(1_001, 0)
    const page = await at('/jobs/all/resurrect')
    expect(await main(page).textContent()).toContain('1,000 jobs by place=dlq: the oldest of 1,001')
    await confirm(page, 'Resurrect all', '1000')
    await notice(page, '1,000 jobs resurrected')
    expect([await count('chokaq.jobs_hot'), await count('chokaq.jobs_dlq')]).toEqual([1_000, 1])
  })

  it('cancels the chosen jobs, and all of a filter', async () => {
    await seedJobs(0, 4)
    const page = await at('/jobs')
    await page.getByLabel(`Choose job ${'101'.padStart(26, '0')}`).check()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await confirm(page, 'Cancel')
    await notice(page, '1 job cancelled')
    await page.goto(deck().url('/jobs?queue=operations'))
    await page.getByRole('link', { name: 'Cancel all of these' }).click()
    await confirm(page, 'Cancel all', '3')
    await notice(page, '3 jobs cancelled')
    expect([await count('chokaq.jobs_hot'), await count('chokaq.jobs_dlq')]).toEqual([0, 4])
    expect(await audit()).toMatchObject([
      { ...byAnna, action: 'job-cancel', affected: 1 },
      { ...byAnna, action: 'job-cancel', filter: 'place=hot queue=operations', affected: 3 },
    ])
  })

  const eventStates = () =>
    database().query<{ error: string; state: string }>(
      `select last_error as error, case when skipped_at is not null then 'skipped'
         when parked_at is not null then 'parked' else 'pending' end as state
       from messenger.outbox_events order by last_error`,
    )
  const states = async () => (await eventStates()).map(({ state }) => state)
  const park = (error: string) =>
    seedEvent(database(), randomUUID(), 'parked_at, last_error', `now(), '${error}'`)

  it('replays the chosen events', async () => {
    const [one, two] = [await park('a'), await park('b')]
    await park('c')
    const page = await at('/outbox?state=parked')
    await page.getByLabel(`Choose event ${one}`).check()
    await page.getByLabel(`Choose event ${two}`).check()
    await page.getByRole('button', { name: 'Replay' }).click()
    await confirm(page, 'Replay')
    await notice(page, '2 events go out again')
    expect(await states()).toEqual(['pending', 'pending', 'parked'])
    expect(await audit()).toMatchObject([
      { ...byAnna, action: 'replay', filter: `event=${two}` },
      { ...byAnna, action: 'replay', filter: `event=${one}` },
    ])
  })

  it('skips the chosen events, and no other', async () => {
    const [one] = await Promise.all([park('a'), park('b')])
    const page = await at('/outbox?state=parked')
    await page.getByLabel(`Choose event ${one}`).check()
    await page.getByRole('button', { name: 'Skip' }).click()
    await confirm(page, 'Skip')
    await notice(page, 'The event is skipped')
    expect(await states()).toEqual(['skipped', 'parked'])
    expect(await audit()).toMatchObject([{ ...byAnna, action: 'skip', filter: `event=${one}` }])
  })

  it('skips all parked events of a filter, after their number was typed', async () => {
    for (const error of ['too large: 1', 'too large: 2', 'unknown type']) await park(error)
    const page = await at('/outbox?state=parked&error=too')
    await page.getByRole('link', { name: 'Skip all of these' }).click()
    await confirm(page, 'Skip all', '2')
    await notice(page, '2 events are skipped')
    expect(await eventStates()).toEqual([
      { error: 'too large: 1', state: 'skipped' },
      { error: 'too large: 2', state: 'skipped' },
      { error: 'unknown type', state: 'parked' },
    ])
    await page.goto(deck().url('/outbox?state=parked'))
    await page.getByRole('link', { name: 'Replay all of these' }).click()
    await confirm(page, 'Replay all', '1')
    await notice(page, 'The event goes out again')
    expect(await states()).not.toContain('parked')
  })

  it('without anything chosen says so', async () => {
    await park('a')
    const page = await at('/outbox?state=parked', /400/)
    await page.getByRole('button', { name: 'Skip' }).click()
    expect(await main(page).textContent()).toContain('No event was chosen')
  })
})
