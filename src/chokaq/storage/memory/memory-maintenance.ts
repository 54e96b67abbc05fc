/** Rescue and retention, in memory. */

import { checkLimit } from '../check-fetch.js'
import type { RescueRequest, RescueResult, RescuedJob } from '../maintenance-port.js'
import { zombieDetails } from '../zombie-details.js'
import { makeDead, takeBack } from './memory-jobs.js'
import type { MemoryTables, StoredJob } from './memory-tables.js'

export function rescue(tables: MemoryTables, request: RescueRequest): RescueResult {
  checkLimit(request.limit)
  const now = tables.now()
  const silent = (job: StoredJob): number => now - (job.heartbeatAtMs ?? now)
  const live = [...tables.tables.hot.values()]
  const unstarted = live
    .filter((job) => job.state === 'Fetched' && silent(job) > request.fetchedTimeoutMs)
    .slice(0, request.limit)
  const dead = live
    .filter((job) => {
      const own = tables.queues.get(job.queue)?.zombieTimeoutMs
      return job.state === 'Processing' && silent(job) > (own ?? request.zombieTimeoutMs)
    })
    .slice(0, request.limit)
  const givenBack = unstarted.map(toRescued)
  const zombies = dead.map(toRescued)
  for (const job of unstarted) takeBack(tables, job)
  for (const job of dead) {
    makeDead(tables, job, { reason: 'Zombie', details: zombieDetails(job.owner ?? '') })
  }
  return { givenBack, zombies, refused: [] }
}

function toRescued({ id, type, queue, owner = '' }: StoredJob): RescuedJob {
  return { id, type, queue, owner }
}

export function prune(
  tables: MemoryTables,
  request: {
    readonly place: 'archive' | 'dlq'
    readonly olderThanMs: number
    readonly limit: number
  },
): number {
  checkLimit(request.limit)
  const table = tables.tables[request.place]
  const before = tables.now() - request.olderThanMs
  let pruned = 0
  // In the order of insertion, which is that of finishing.
  for (const [id, job] of table) {
    if (pruned >= request.limit || (job.finishedAtMs ?? 0) >= before) break
    table.delete(id)
    pruned += 1
  }
  return pruned
}
