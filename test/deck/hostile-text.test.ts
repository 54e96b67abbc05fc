/** Texts of strangers in every place that The Deck shows them: nothing of them is markup, or turns a line. */

import { beforeAll, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { useDeck } from './deck-fixtures.js'
import { useSession } from './deck-forms.js'

const database = useTestDatabase()
const hostile = `"'><img src=x onerror=alert(1)>\u202e\u2066\u0085 שלום`
const job = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'

describe('a hostile text', () => {
  const deck = useDeck(database)
  const anna = useSession(deck)
  let dealId: string
  beforeAll(async () => {
    dealId = (await seedDeal(database().admin, { title: hostile, attempts: 10 })).dealId
    const { query } = database()
    await query('update messenger.deal_chat_provisions set last_error = $1', [hostile])
    await query(
      `insert into messenger.chat_provision_audit (actor, action, deal_id, filter, reason, affected)
       values ($1, $1, $2, $1, $1, 1)`,
      [hostile, dealId],
    )
    await query('insert into chokaq.queues (name) values ($1)', [hostile])
    await query(
      `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
         created_by, created_at, reason, details)
       values ($1, $2, $2, $3, 10, 4, 3, array[$2], $2, now(), 'FatalError', $2)`,
      [job, hostile, JSON.stringify({ text: hostile })],
    )
  })

  it.each([
    '',
    '/provisions',
    '/provisions/DEAL',
    '/provisions/requeue?deal=DEAL',
    '/audit',
    `/audit?actor=${encodeURIComponent(hostile)}`,
    '/jobs?place=dlq',
    `/jobs?queue=${encodeURIComponent(hostile)}`,
    `/jobs/${job}`,
    `/jobs/${job}/resurrect`,
    '/queues',
    `/queues/${encodeURIComponent(hostile)}/pause`,
  ])('on the page %s', async (path) => {
    const address = deck().url(path.replace('DEAL', dealId))
    const html = await (await fetch(address, { headers: { cookie: anna.cookie() } })).text()
    // In an attribute, as a row's title, only a quote could end it, and those in texts are escaped.
    expect(html.replace(/"[^"]*"/g, '""')).not.toContain('<img')
    const shown = html.replace(
      /<textarea[^>]*>[\s\S]*?<\/textarea>|<[^<>"]*("[^"]*"[^<>"]*)*>/g,
      '',
    )
    expect(shown).not.toMatch(/[\u202e\u2066\u0085]/)
    // Each is shown, and what goes from right to left is kept to itself.
    if (path.includes('requeue') || path.includes('?actor') || path.includes('?queue')) return
    expect(shown).toContain('[U+202E][U+2066][U+0085]')
    expect(html).toContain('<bdi>שלום</bdi>')
  })
})
