/** The queues there are: those that have a row, and those that get one with their first job or limit. */

import type { JobStorage, QueueStatus } from '../chokaq/index.js'
import type { Config } from '../config/config.js'
import { operationsQueue } from './jobs/provision-jobs.js'
import { maintenanceQueue } from './jobs/retention-job.js'

/** @returns by name */
export async function listKnownQueues(
  storage: Pick<JobStorage, 'listQueues'>,
  { queues: configured }: Pick<Config['chokaq'], 'queues'>,
): Promise<QueueStatus[]> {
  const used = await storage.listQueues()
  const known = [
    'default',
    operationsQueue,
    maintenanceQueue,
    ...configured.map(({ name }) => name),
  ]
  const unused = [...new Set(known)].filter((name) => !used.some((queue) => queue.name === name))
  const all = [...used, ...unused.map(emptyQueue)]
  return all.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function emptyQueue(name: string): QueueStatus {
  const settings = {
    paused: false,
    maxWorkers: undefined,
    zombieTimeoutMs: undefined,
    timeoutMs: undefined,
  }
  const counts = { due: 0, scheduled: 0, fetched: 0, processing: 0, dead: 0, lagSeconds: 0 }
  return { name, settings, ...counts }
}
