/**
 * Holds back what works on the service's tables until they are there: before that the cycle alone tries,
 * and says what is missing, in one line instead of one from everybody.
 */

import type { Kysely } from 'kysely'
import { checkServiceSchema } from './postgres/schema-check.js'
import type { Database } from './postgres/schema.js'
import { pause, unlessAborted } from './timers.js'

export interface TableGate {
  start(): void
  stop(): Promise<void>
  /** Milliseconds since it last looked; 0 once it is open. */
  lastTryAgeMs(): number
  /** Milliseconds since it opened; 0 before. */
  openForMs(): number
}

/** A `migrate` that runs beside the start takes a second or a few. */
export const gateIntervalMs = 1_000

export function createTableGate({
  db,
  onOpen,
  now,
}: {
  readonly db: Kysely<Database>
  /** Called once, unless stopped before. */
  readonly onOpen: () => void
  /** Monotonic milliseconds. */
  readonly now: () => number
}): TableGate {
  const stopping = new AbortController()
  const isStopping = (): boolean => stopping.signal.aborted
  let running: Promise<void> | undefined
  let triedAt = now()
  let openedAt: number | undefined

  async function run(): Promise<void> {
    while (!isStopping()) {
      triedAt = now()
      const isThere = await unlessAborted(
        checkServiceSchema(db).then(
          () => true,
          // The cycle asks the same, and tells.
          () => false,
        ),
        stopping.signal,
      )
      if (isThere === true && !isStopping()) {
        openedAt = now()
        onOpen()
        return
      }
      await pause(gateIntervalMs, stopping.signal)
    }
  }

  return {
    start: () => void (running ??= run()),
    async stop() {
      stopping.abort()
      await running
    },
    lastTryAgeMs: () => (openedAt === undefined ? now() - triedAt : 0),
    openForMs: () => (openedAt === undefined ? 0 : now() - openedAt),
  }
}
