/**
 * What keeps the storage healthy, run by every instance: passes at once get in nobody's way, and
 * each takes a bounded number of jobs, so that it is repeated until it finds none.
 */

export interface RescueRequest {
  /** A Fetched job without heartbeat for so long goes back to Pending. */
  readonly fetchedTimeoutMs: number
  /** A Processing job without heartbeat for so long is a Zombie; the queue's own value comes first. */
  readonly zombieTimeoutMs: number
  /** Jobs at most, of each of the two kinds. */
  readonly limit: number
}

export interface RescuedJob {
  readonly id: string
  readonly type: string
  readonly queue: string
  /** The one that fell silent. */
  readonly owner: string
}

export interface RescueResult {
  /** Fetched → Pending: the handler had not begun. */
  readonly givenBack: readonly RescuedJob[]
  /** Processing → Zombie: to be looked into before anybody runs them again. */
  readonly zombies: readonly RescuedJob[]
  /** Those the storage would not let go, as they were; they never stop the others' rescue. */
  readonly refused: readonly (RescuedJob & { readonly error: unknown })[]
}

export interface MaintenancePort {
  rescue(request: RescueRequest): Promise<RescueResult>

  /** Deletes jobs that finished more than `olderThanMs` ago, oldest first; returns their number. */
  prune(request: {
    readonly place: 'archive' | 'dlq'
    readonly olderThanMs: number
    readonly limit: number
  }): Promise<number>

  /**
   * Adds the metric buckets that are older than `olderThanMs` to the lasting totals and deletes them;
   * returns their number. Totals never change by it.
   */
  foldMetrics(request: { readonly olderThanMs: number; readonly limit: number }): Promise<number>
}
