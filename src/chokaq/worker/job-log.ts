/** The log that a handler gets: each line carries which job, and which of its runs, it is about. */

import type { FetchedJob } from '../jobs/job.js'
import type { CoreLog } from '../ports.js'

export class JobLog implements CoreLog {
  readonly #log: CoreLog
  readonly #job: FetchedJob
  readonly #attempt: number

  constructor(log: CoreLog, job: FetchedJob, attempt: number) {
    this.#log = log
    this.#job = job
    this.#attempt = attempt
  }

  debug(fields: object, message: string): void {
    this.#log.debug({ ...this.#about(), ...fields }, message)
  }

  info(fields: object, message: string): void {
    this.#log.info({ ...this.#about(), ...fields }, message)
  }

  warn(fields: object, message: string): void {
    this.#log.warn({ ...this.#about(), ...fields }, message)
  }

  error(fields: object, message: string): void {
    this.#log.error({ ...this.#about(), ...fields }, message)
  }

  #about(): object {
    const { lease, type } = this.#job
    return { jobId: lease.jobId, type, attempt: this.#attempt }
  }
}
