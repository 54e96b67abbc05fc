/**
 * The storage in schema `chokaq` of a PostgreSQL database.
 *
 * Every move is one statement that commits by itself, so a frozen or killed worker leaves no locks and
 * nothing half done. It waits for row locks as long as the connection allows: give it a pool with limits.
 */

import { createJobIds, type NewJobId } from '../../jobs/job-id.js'
import { applyBulk, previewBulk, type BulkSteps } from '../bulk-action.js'
import { checkCancel, checkPriorityChange, checkResurrect } from '../check-operator.js'
import { checkBulk } from '../check-query.js'
import type { JobStorage } from '../job-storage.js'
import type { OperatorPort } from '../operator-port.js'
import { cancel, setPriority } from './cancel.js'
import type { CallersTransaction, Connections, Executor } from './connections.js'
import { enqueue } from './enqueue.js'
import { createFetch, giveBackLost } from './fetch.js'
import { moveEach } from './item-by-item.js'
import { changeQueue, listQueues, seedQueues } from './queues.js'
import * as reading from './reading.js'
import { rescue } from './rescue.js'
import { purge, resurrect } from './resurrect.js'
import { foldMetrics, prune } from './retention.js'
import * as run from './run.js'
import { inSavepoint } from './savepoint.js'
import * as settle from './settle.js'

export function createPostgresStorage(options: {
  /** Of a kysely on the database. Best where its sessions begin in READ COMMITTED: see `fetch.ts`. */
  readonly db: Connections
  readonly newId?: NewJobId
}): JobStorage<CallersTransaction> {
  const { db } = options
  const newId = options.newId ?? createJobIds()

  const atOnce = <R>(trx: CallersTransaction | undefined, move: (on: Executor) => Promise<R>) =>
    trx === undefined ? move(db) : inSavepoint(trx, () => move(trx))

  const moves: Pick<OperatorPort<CallersTransaction>, 'cancel' | 'resurrect'> = {
    cancel: async (ids, request, trx) => {
      const checked = checkCancel(request)
      return moveEach(ids, (some) => atOnce(trx, (on) => cancel(on, some, checked)))
    },
    resurrect: async (ids, request, trx) => {
      checkResurrect(request)
      return moveEach(ids, (some) => atOnce(trx, (on) => resurrect(on, some, request)))
    },
  }
  const stepsOn = (trx?: CallersTransaction): BulkSteps => ({
    cancel: (ids, request) => moves.cancel(ids, request, trx),
    resurrect: (ids, request) => moves.resurrect(ids, request, trx),
    matchingIds: (place, filter, range) => reading.matchingIds(trx ?? db, place, filter, range),
    countMatching: (place, filter) => reading.countMatching(trx ?? db, place, filter),
    purge: (ids) => purge(trx ?? db, ids),
  })

  return {
    enqueue: (jobs, trx) => enqueue(db, newId, jobs, trx),
    fetch: createFetch(db),
    start: (leases) => moveEach(leases, (some) => run.start(db, some)),
    heartbeat: async (beats) => (beats.length === 0 ? [] : run.heartbeat(db, beats)),
    saveCheckpoint: (lease, checkpoint, trx) => run.saveCheckpoint(trx ?? db, lease, checkpoint),
    succeed: (items) => moveEach(items, (some) => settle.succeed(db, some)),
    retry: (items) => moveEach(items, (some) => settle.retry(db, some)),
    deadLetter: (items) => moveEach(items, (some) => settle.deadLetter(db, some)),
    giveBack: (items) => moveEach(items, (some) => settle.giveBack(db, some)),
    giveBackLost: (request) => giveBackLost(db, request),
    findSucceeded: (type, key) => reading.findSucceeded(db, type, key),
    rescue: (request) => rescue(db, request),
    prune: (request) => prune(db, request),
    foldMetrics: (request) => foldMetrics(db, request),
    ...moves,
    setPriority: async (ids, request, trx) => {
      checkPriorityChange(request)
      return setPriority(trx ?? db, ids, request)
    },
    previewBulk: async (request) => {
      checkBulk(request)
      return previewBulk(stepsOn(), request)
    },
    applyBulk: async (order, trx) => {
      checkBulk(order, order.by)
      return applyBulk(stepsOn(trx), order)
    },
    changeQueue: (name, changes, request, trx) => changeQueue(trx ?? db, name, changes, request),
    seedQueues: (queues) => seedQueues(db, queues),
    findJob: (id, trx) => reading.findJob(trx ?? db, id),
    listJobs: (query) => reading.listJobs(db, query),
    listQueues: () => listQueues(db),
    totals: () => reading.totals(db),
    metricBuckets: (windowMs, stepMs) => reading.metricBuckets(db, windowMs, stepMs),
    now: () => reading.now(db),
  }
}
