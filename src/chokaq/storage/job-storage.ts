/**
 * The storage port: everything the core asks of a place that keeps jobs. Two places keep this promise,
 * PostgreSQL and memory, and one conformance suite holds both to it.
 *
 * Common to all of it: every move is atomic and guarded by the state it leaves, a worker's by its lease
 * too; a move that comes too late changes nothing and says so in its answer (`stale`, `not-live`, …),
 * so that the caller can count it and announce nothing. All times are the storage's clock.
 */

import type { EnqueuePort } from './enqueue-port.js'
import type { MaintenancePort } from './maintenance-port.js'
import type { OperatorPort } from './operator-port.js'
import type { ReadingPort } from './reading-port.js'
import type { WorkerPort } from './worker-port.js'

/** @typeParam Trx the caller's transaction that some calls take part in; never, where there is none. */
export interface JobStorage<Trx = never>
  extends EnqueuePort<Trx>, WorkerPort<Trx>, MaintenancePort, OperatorPort<Trx>, ReadingPort<Trx> {}
