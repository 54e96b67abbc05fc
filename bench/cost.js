/**
 * What one row and one event cost: CPU of this process, CPU of PostgreSQL, and WAL (Linux, the server on
 * this machine). Kafka's own cost is not in it.
 */

import { sql } from 'kysely'
import { checkDone, seedDue, seedHistory } from './frame/deals.js'
import { interleave } from './frame/interleave.js'
import { costOf } from './frame/server-cost.js'
import { startJob, timedCycle } from './frame/service-cycle.js'
import { median } from './frame/statistics.js'
import { drainByRelay } from './relay.js'
import { seedEvents } from './relay/events.js'

export const cost = {
  full: { rows: 2_000, events: 10_000, history: 10_000, rounds: 5 },
  short: { rows: 20, events: 50, history: 200, rounds: 1 },

  async run({ servers, sizes }) {
    const { url, db, adminQuery, drop } = await servers.database(['service', 'reference'])
    const topic = await servers.topic()
    await seedHistory(db, sizes.history)
    const job = await startJob(url)
    const works = {
      'a row provisioned': async () => {
        await sql`truncate messenger.outbox_events`.execute(db)
        await seedDue(db, sizes.rows)
        const found = await costOf(adminQuery, sizes.rows, () => timedCycle(job, sizes.rows))
        await checkDone(db, sizes.rows)
        return found
      },
      'an event relayed': async () => {
        let found
        await drainByRelay({ url, topic, events: sizes.events }, async (drain) => {
          await seedEvents(db, topic.name, sizes.events)
          found = await costOf(adminQuery, sizes.events, drain)
        })
        return found
      },
    }
    const found = await interleave(works, sizes, (work) => work())
    await job.close()
    await topic.drop()
    await drop()
    const rows = Object.entries(found).map(([piece, rounds]) => {
      const names = Object.keys(rounds[0])
      const medians = names.map((name) => [name, median(rounds.map((round) => round[name]))])
      return { piece, ...Object.fromEntries(medians) }
    })
    return { tables: [{ title: 'cost of one', rows }] }
  },
}
