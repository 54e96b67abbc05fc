/** Watches the deals until each is where it must be and stays so, or until nothing moves any more. */

import type { Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { pause } from '../timers.js'
import type { CheckedDeal } from './check-deals.js'
import type { CrmReader } from './crm-reader.js'
import type { DemoWorker } from './demo-worker.js'
import type { EventWay } from './event-way.js'
import { lookAtRuns } from './look-at-deals.js'
import type { Progress } from './progress.js'
import type { Scenes } from './scenes.js'

/** Live to the eye; and a look takes milliseconds, or with thousands of deals gets more time. */
const lookIntervalMs = 250
const shareOfLooks = 4
/** Far above the longest wait of a row (2 s) and of the relay's breaker (10 s) with a busy machine. */
const stalledMs = 60_000
/** The first may have begun before all was in place; the second has seen it whole and left it alone. */
const quietCycles = 2

export interface Watch {
  readonly db: Kysely<Database>
  readonly way: EventWay
  readonly worker: DemoWorker
  readonly scenes: Scenes
  readonly reader: CrmReader
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly check: () => Promise<CheckedDeal[]>
}

/**
 * @returns the last check, whatever it found
 * @throws DemoFailure where the worker has ended by itself; the signal's reason where it is aborted
 */
export async function untilSettled(watch: Watch): Promise<CheckedDeal[]> {
  const { way, worker, reader, progress, signal } = watch
  const seenReady = createFirstReady(progress)
  let relay = way.plan.relay
  let settledAtCycle: number | undefined
  let standing = { text: '', since: performance.now() }
  for (;;) {
    signal.throwIfAborted()
    way.assertSound()
    worker.assertAlive()
    if (way.plan.relay !== relay) {
      relay = way.plan.relay
      await worker.stop()
      await worker.start(way.plan)
    }
    const startedAt = performance.now()
    const runs = await lookAtRuns(watch.db)
    const checked = await watch.check()
    const over = await watch.scenes.turn(looksOf(checked), runs)
    const { events, redelivered } = reader.counts
    progress.show({
      checked,
      events: way.isOpen ? events : undefined,
      redelivered,
      cycles: runs.finished,
      kafka: way.what,
    })
    seenReady(checked)

    const right = checked.filter(({ faults }) => faults.length === 0).length
    if (right < checked.length || !over || !way.isOpen) settledAtCycle = undefined
    else settledAtCycle ??= runs.finished
    if (settledAtCycle !== undefined && runs.finished >= settledAtCycle + quietCycles) {
      return checked
    }
    const text = `${right} ${events} ${way.what}`
    if (text !== standing.text) standing = { text, since: performance.now() }
    // Its end is the ladder's to decide, while a broker is being fetched and started.
    if (way.isOpen && performance.now() - standing.since > stalledMs) return checked
    await pause(Math.max(lookIntervalMs, shareOfLooks * (performance.now() - startedAt)), signal)
  }
}

function looksOf(checked: readonly CheckedDeal[]) {
  return new Map(checked.flatMap(({ look }) => (look ? [[look.dealId, look] as const] : [])))
}

/** Says once when the first deal that the worker touched is Ready. */
function createFirstReady(progress: Progress): (checked: readonly CheckedDeal[]) => void {
  let said = false
  return (checked) => {
    if (said) return
    const isReady = ({ deal, look }: CheckedDeal): boolean =>
      !deal.expected.untouched && look?.status === 'Ready'
    if (!checked.some(isReady)) return
    said = true
    // The process's own clock: what npm and the compiler took before is not in it.
    progress.say(
      `The worker's first deal is Ready, ${(performance.now() / 1000).toFixed(1)} s after the start.`,
    )
  }
}
