/**
 * Finds the jobs of workers that fell silent: what had not begun goes back into its queue, what had is
 * a Zombie for a person to look at. Every instance does it; passes at once share the work.
 */

import type { CoreEvents, CoreLog, CoreMetrics } from '../ports.js'
import type { MaintenancePort, RescuedJob } from '../storage/maintenance-port.js'
import type { UpkeepPass } from './upkeep-loop.js'

export interface RescueOptions {
  readonly fetchedTimeoutMs: number
  /** The queue's own value comes first. */
  readonly zombieTimeoutMs: number
}

export interface RescueDependencies {
  readonly storage: Pick<MaintenancePort, 'rescue'>
  readonly metrics: CoreMetrics
  readonly events: CoreEvents
  readonly log: CoreLog
  /** Jobs are due again. */
  readonly wake: () => void
}

/** Jobs of one statement: some milliseconds of locks. */
const batch = 100

/** How often to look: soon after the shortest silence is over, and no load on an idle database. */
export function rescueIntervalMs({ fetchedTimeoutMs, zombieTimeoutMs }: RescueOptions): number {
  return Math.min(30_000, Math.max(1_000, Math.min(fetchedTimeoutMs, zombieTimeoutMs) / 10))
}

export function createRescuePass(
  options: RescueOptions,
  { storage, metrics, events, log, wake }: RescueDependencies,
): UpkeepPass {
  // Told once each: the storage refuses the same ones in every pass.
  let refusedBefore = new Set<string>()

  const about = ({ id, type, queue, owner }: RescuedJob) => ({ jobId: id, type, queue, owner })

  return async (signal, tried) => {
    const refusedNow = new Set<string>()
    let moved: number
    do {
      tried()
      const { givenBack, zombies, refused } = await storage.rescue({ ...options, limit: batch })
      for (const job of givenBack) {
        log.warn({ event: 'job given back', ...about(job) }, 'job given back')
        events.emit({ kind: 'job', id: job.id, queue: job.queue, state: 'Pending' })
      }
      for (const job of zombies) {
        log.error({ event: 'job failed', ...about(job), reason: 'Zombie' }, 'job failed')
        metrics.failed(job, 'Zombie')
        events.emit({ kind: 'job', id: job.id, queue: job.queue, state: 'Zombie' })
      }
      for (const { error, ...job } of refused) {
        refusedNow.add(job.id)
        if (refusedBefore.has(job.id)) continue
        log.error({ event: 'job rescue refused', ...about(job), err: error }, 'job rescue refused')
      }
      moved = givenBack.length + zombies.length
      // Room in their queues came with the zombies' end, too.
      if (moved > 0) wake()
    } while (moved >= batch && !signal.aborted)
    refusedBefore = refusedNow
  }
}
