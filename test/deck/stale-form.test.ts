/** A form that was opened before somebody else changed what it shows writes nothing over. */

import { beforeEach, describe, expect, it } from 'vitest'
import { useTestDatabase } from '../support/test-database.js'
import { emptyTables, useDeck } from './deck-fixtures.js'
import { useSession } from './deck-forms.js'

const database = useTestDatabase()

describe('a form', () => {
  const id = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'
  const reason = 'a test'
  const deck = useDeck(database)
  const anna = useSession(deck)
  beforeEach(async () => {
    await emptyTables(database())
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    await database().query(
      `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
         created_at, reason, details)
       values ($1, 'operations', 'other.v1', '{"fixed":false}', 10, 4, 3, '{"old"}', now(), 'FatalError', '')`,
      [id],
    )
  })

  const path = `/jobs/${id}/resurrect`
  const live = () => database().query('select payload, tags, priority from chokaq.jobs_hot')
  const dieAgain = () =>
    database().query(
      `with dead as (delete from chokaq.jobs_hot returning id, queue, type, payload, priority, tags)
       insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
         created_at, reason, details)
       select id, queue, type, payload, priority, 4, 3, tags, now(), 'FatalError', '' from dead`,
    )

  it('of a dead job that a colleague has mended meanwhile is refused, however often, and kept', async () => {
    const [hers, his] = [await anna.openForm(path), await anna.openForm(path)]
    const mend = {
      ...his.fields,
      reason,
      payload: '{"fixed":true}',
      tags: 'mended',
      priority: '90',
    }
    expect((await anna.post(his.url, mend)).status).toBe(303)
    const mended = [{ payload: { fixed: true }, tags: ['mended'], priority: 90 }]
    expect(await live()).toEqual(mended)
    await dieAgain()
    const late = { ...hers.fields, reason: 'typed by her' }
    const answer = await anna.post(hers.url, late)
    const text = await answer.text()
    expect(answer.status).toBe(409)
    expect(text).toContain('changed since you opened this form')
    expect(text).toContain('typed by her</textarea>')
    expect(text).toContain(`href="/deck${path}" target="_blank"`)
    const field = /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? ''
    const again = await anna.post(hers.url, { ...late, seen: field })
    expect(again.status).toBe(409)
    expect(await live()).toEqual([])
    const anew = await anna.openForm(path)
    expect(anew.fields['priority']).toBe('90')
    expect((await anna.post(anew.url, { ...anew.fields, reason })).status).toBe(303)
    expect(await live()).toEqual(mended)
  })

  it.each([
    { name: 'a number of workers', path: '/queues/operations/limit' },
    { name: 'a priority', path: `/jobs/${id}/priority` },
  ])('that says not what it began with changes nothing: $name', async ({ path: at }) => {
    await database().query(
      `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
       values ($1, 'operations', 'other.v1', '{}', 10)`,
      [id],
    )
    const { url, fields } = await anna.openForm(at)
    expect(fields['seen']).toMatch(/^[\w-]{43}$/)
    const answer = await anna.post(url, { ...fields, seen: '', reason })
    expect(answer.status).toBe(409)
    expect(await answer.text()).toContain('changed since you opened this form')
    expect((await anna.post(url, { ...fields, reason })).status).toBe(303)
  })

  it.each(['priority', 'reason', 'odd'])('with two of %s is told so in place', async (name) => {
    const { url, fields } = await anna.openForm(path)
    const body = new URLSearchParams({ ...fields, reason: 'typed by her' })
    body.append(name, '7')
    if (name === 'odd') body.append(name, '8')
    body.set('payload', '{"typed":1}')
    const answer = await fetch(url, { method: 'POST', headers: { cookie: anna.cookie() }, body })
    const text = await answer.text()
    expect(answer.status).toBe(400)
    expect(text).toContain('is given more than once. Give it once.')
    expect(text).toContain('{&#34;typed&#34;:1}')
    expect(await live()).toEqual([])
  })
})
