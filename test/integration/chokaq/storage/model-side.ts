/** A storage under random calls, answering in numbers that another storage's answers can be held against. */

import type { FetchedJob, JobRecord, Lease } from '../../../../src/chokaq/jobs/job.js'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import type { QueueChanges } from '../../../../src/chokaq/storage/operator-port.js'
import type { Call } from './model-calls.js'
import type { Subject } from './storages.js'

/** One storage with what has been handed out by it; jobs and leases are spoken of by their numbers. */
export class ModelSide {
  private readonly ids: string[] = []
  private readonly leases: Lease[] = []

  private readonly subject: Subject

  constructor(subject: Subject) {
    this.subject = subject
  }

  private get storage(): JobStorage {
    return this.subject.storage
  }

  private number(id: string): number {
    return this.ids.indexOf(id)
  }

  private lease(back: number): Lease {
    return this.leases.at(-1 - back) ?? { jobId: 'none', owner: 'w1', token: 0 }
  }

  /**
   * A second apart, so that no two things are due in one instant for one side, whose clock stands still
   * within a call, and one after the other for the side whose clock runs on.
   */
  async answer(call: Call): Promise<unknown> {
    const { storage } = this
    await this.subject.advance(1_000)
    const lease = 'lease' in call ? this.lease(call.lease) : this.lease(0)
    const ids = 'job' in call ? [this.ids[call.job] ?? 'none'] : []
    switch (call.kind) {
      case 'enqueue':
        return this.enqueue(call)
      case 'fetch': {
        const jobs = await storage.fetch(call)
        this.leases.push(...jobs.map((job) => job.lease))
        return jobs.map((job) => this.shown(job))
      }
      case 'start':
        return storage.start([lease])
      case 'beat':
        return storage.heartbeat([{ lease, progress: 50 }])
      case 'succeed':
        return storage.succeed([{ lease, durationMs: 5 }])
      case 'retry':
        return storage.retry([{ lease, delayMs: 0, error: 'again' }])
      case 'die':
        return storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
      case 'giveBack':
        return storage.giveBack([{ lease }])
      case 'cancel':
        return storage.cancel(ids, { by: 'ops', reason: 'r' })
      case 'resurrect': {
        const answers = await storage.resurrect(ids, { by: 'ops' })
        return answers.map((answer) =>
          answer.outcome === 'key-taken' ? this.number(answer.by) : answer.outcome,
        )
      }
      case 'raise':
        return storage.setPriority(ids, { by: 'ops', priority: 80 })
      case 'giveBackLost': {
        const held = this.leases.slice(-call.known).map(({ token }) => token)
        const given = await storage.giveBackLost({ owner: call.owner, held })
        return given.map(({ id }) => this.number(id)).sort()
      }
      case 'rescue': {
        const found = await storage.rescue({
          fetchedTimeoutMs: call.what === 'fetched' ? -1 : 1e9,
          zombieTimeoutMs: call.what === 'running' ? -1 : 1e9,
          limit: 100,
        })
        const numbers = (jobs: readonly { readonly id: string }[]) =>
          jobs.map(({ id }) => this.number(id)).sort()
        return [numbers(found.givenBack), numbers(found.zombies)]
      }
      case 'limit':
        return this.changeQueue(call.queue, { maxWorkers: call.maxWorkers })
      case 'pause':
        return this.changeQueue(call.queue, { paused: call.paused })
      case 'wait':
        return this.subject.advance(60_000)
    }
  }

  /** Versions are each storage's own. */
  private async changeQueue(name: string, changes: QueueChanges): Promise<unknown> {
    const { settings, before } = await this.storage.changeQueue(name, changes, { by: 'ops' })
    return { settings, before }
  }

  private async enqueue(call: Extract<Call, { kind: 'enqueue' }>): Promise<unknown> {
    const { queue, priority, key } = call
    const [answer] = await this.storage.enqueue([
      {
        type: 't',
        queue,
        priority,
        payload: '1',
        idempotencyKey: key < 3 ? `key-${key}` : undefined,
      },
    ])
    if (answer === undefined) throw new Error('no answer')
    if (answer.created) this.ids.push(answer.id)
    return [this.number(answer.id), answer.created]
  }

  private shown({ lease, ageMs, lagMs, ...job }: FetchedJob): unknown {
    return { ...job, number: this.number(lease.jobId), positive: ageMs >= 0 && lagMs >= 0 }
  }

  async everything(): Promise<unknown> {
    const jobs = await Promise.all(this.ids.map((id) => this.storage.findJob(id)))
    const queues = (await this.storage.listQueues()).map((queue) => ({ ...queue, lagSeconds: 0 }))
    return { jobs: jobs.map(timeless), queues, totals: await this.storage.totals() }
  }
}

/** The two clocks differ, so times are compared only by whether they are there. */
function timeless(job: JobRecord | undefined): unknown {
  const entries = Object.entries(job ?? {})
    .filter(([name]) => name !== 'id')
    .map(([name, value]) => [name, name.endsWith('AtMs') ? typeof value : (value as unknown)])
  return Object.fromEntries(entries) as unknown
}
