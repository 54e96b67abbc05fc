/**
 * The storage in the memory of one process, for tests and for work that may be lost with it.
 *
 * It runs each call to its end before the next begins, so that every move is atomic by nature.
 */

import { checkActor } from '../../jobs/check-job.js'
import { createJobIds, type NewJobId } from '../../jobs/job-id.js'
import { applyBulk, previewBulk, type BulkSteps } from '../bulk-action.js'
import { checkCancel, checkPriorityChange, checkResurrect } from '../check-operator.js'
import { checkBulk } from '../check-query.js'
import type { JobStorage } from '../job-storage.js'
import { enqueue } from './memory-enqueue.js'
import { fetch, giveBackLost } from './memory-fetch.js'
import { toRecord } from './memory-jobs.js'
import * as maintenance from './memory-maintenance.js'
import { compare } from './memory-metrics.js'
import * as operator from './memory-operator.js'
import * as reading from './memory-reading.js'
import { createMemoryTables } from './memory-tables.js'
import * as worker from './memory-worker.js'

export interface MemoryStorageOptions {
  /** Milliseconds since the epoch, as `Date.now`. */
  readonly now: () => number
  /** Jobs at most, live, archived and dead together, ≥ 1. */
  readonly capacity: number
  readonly newId?: NewJobId
}

export function createMemoryStorage(options: MemoryStorageOptions): JobStorage {
  const tables = createMemoryTables(options)
  const newId = options.newId ?? createJobIds()
  const each = <I, R>(items: readonly I[], move: (item: I) => R): Promise<readonly R[]> =>
    answer(() => items.map(move))

  const cancel: JobStorage['cancel'] = (ids, request) =>
    answer(() => {
      const checked = checkCancel(request)
      return ids.map((id) => operator.cancel(tables, id, checked))
    })
  const resurrect: JobStorage['resurrect'] = (ids, request) =>
    answer(() => {
      checkResurrect(request)
      return ids.map((id) => operator.resurrect(tables, id, request))
    })
  const steps: BulkSteps = {
    cancel,
    resurrect,
    matchingIds: (place, filter, { limit, after }) =>
      answer(() => {
        const ids = reading.matching(tables, place, filter).map(({ id }) => id)
        return ids
          .filter((id) => id > after)
          .sort(compare)
          .slice(0, limit)
      }),
    countMatching: (place, filter) => answer(() => reading.matching(tables, place, filter).length),
    purge: (ids) => answer(() => ids.filter((id) => tables.tables.dlq.delete(id)).length),
  }

  return {
    enqueue: (jobs) => answer(() => enqueue(tables, newId, jobs)),
    fetch: (request) => answer(() => fetch(tables, request)),
    start: (leases) => each(leases, (lease) => worker.start(tables, lease)),
    heartbeat: (beats) => each(beats, (beat) => worker.heartbeat(tables, beat)),
    saveCheckpoint: (lease, checkpoint) =>
      answer(() => worker.saveCheckpoint(tables, lease, checkpoint)),
    succeed: (items) => each(items, (item) => worker.succeed(tables, item)),
    retry: (items) => each(items, (item) => worker.retry(tables, item)),
    deadLetter: (items) => each(items, (item) => worker.deadLetter(tables, item)),
    giveBack: (items) => each(items, (item) => worker.giveBack(tables, item)),
    giveBackLost: (request) => answer(() => giveBackLost(tables, request)),
    findSucceeded: (type, idempotencyKey) =>
      answer(() => {
        const found = reading.matching(tables, 'archive', { type, idempotencyKey }).at(-1)
        return found === undefined ? undefined : { id: found.id }
      }),
    rescue: (request) => answer(() => maintenance.rescue(tables, request)),
    prune: (request) => answer(() => maintenance.prune(tables, request)),
    foldMetrics: ({ olderThanMs, limit }) =>
      answer(() => tables.metrics.fold(tables.now() - olderThanMs, limit)),
    cancel,
    resurrect,
    setPriority: (ids, request) =>
      answer(() => {
        checkPriorityChange(request)
        return ids.map((id) => operator.setPriority(tables, id, request))
      }),
    previewBulk: async (request) => {
      checkBulk(request)
      return previewBulk(steps, request)
    },
    applyBulk: async (order) => {
      checkBulk(order, order.by)
      return applyBulk(steps, order)
    },
    changeQueue: (name, changes, { by, ifVersion }) =>
      answer(() => {
        checkActor(by)
        return operator.changeQueue(tables, name, changes, ifVersion)
      }),
    seedQueues: (queues) => answer(() => operator.seedQueues(tables, queues)),
    findJob: (id) =>
      answer(() => {
        const job = tables.find(id)
        return job === undefined ? undefined : toRecord(job)
      }),
    listJobs: (query) => answer(() => reading.list(tables, query)),
    listQueues: () => answer(() => reading.queues(tables)),
    totals: () => answer(() => tables.metrics.totals()),
    metricBuckets: (windowMs, stepMs) =>
      answer(() => tables.metrics.since(tables.now() - windowMs, stepMs)),
    now: () => answer(() => tables.now()),
  }
}

/** As a promise, what is thrown too. */
function answer<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()))
}
