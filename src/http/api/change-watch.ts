/**
 * Watches for changes on behalf of all pages that are open: one look a second at the database however
 * many they are, and none while there is no page. What this process does itself is told at once.
 */

import type { CoreEvent, CoreEvents } from '../../chokaq/index.js'
import { pause } from '../../timers.js'
import { readChangeMarks, resources, type ChangeMarks, type Resource } from './change-marks.js'
import type { ApiContext } from './context.js'
import { readOnly } from './read-only.js'

/** Pages feel live, and the statement takes a millisecond. */
const pollIntervalMs = 1_000

export type OnChange = (resource: Resource) => void

export interface ChangeWatch {
  /** The returned function ends it. */
  subscribe(onChange: OnChange): () => void
}

const ofCoreEvent: Readonly<Record<CoreEvent['kind'], readonly Resource[]>> = {
  job: ['jobs', 'queues'],
  jobs: ['jobs', 'queues'],
  queue: ['queues'],
}

export function createChangeWatch({
  db,
  events,
  log,
}: Pick<ApiContext, 'db' | 'log'> & {
  readonly events: Pick<CoreEvents, 'subscribe'>
}): ChangeWatch {
  /** Those who are new have not been told of anything yet. */
  const listeners = new Map<OnChange, { isNew: boolean }>()
  let watching: AbortController | undefined
  let endEvents: (() => void) | undefined
  let last: ChangeMarks | undefined

  const tell = (changed: readonly Resource[]): void => {
    for (const listener of listeners.keys()) for (const resource of changed) listener(resource)
  }

  async function look(): Promise<void> {
    const marks = await readOnly(db, readChangeMarks)
    const before = last
    last = marks
    const changed = resources.filter((name) => marks[name] !== before?.[name])
    for (const [listener, state] of listeners) {
      // What changed just before the first look is in nothing that a page has read already.
      for (const resource of state.isNew ? resources : changed) listener(resource)
      state.isNew = false
    }
  }

  async function watch(signal: AbortSignal): Promise<void> {
    let failing = false
    while (!signal.aborted) {
      try {
        await look()
        failing = false
      } catch (error) {
        // Once per outage: what was missed meanwhile shows in the first look afterwards.
        if (!failing) log.warn({ event: 'pages outdated', err: error }, 'pages outdated')
        failing = true
      }
      await pause(pollIntervalMs, signal)
    }
  }

  function begin(): void {
    last = undefined
    watching = new AbortController()
    endEvents = events.subscribe(({ kind }) => tell(ofCoreEvent[kind]))
    void watch(watching.signal)
  }

  function end(): void {
    watching?.abort()
    watching = undefined
    endEvents?.()
    endEvents = undefined
  }

  return {
    subscribe(onChange) {
      // A wrapper of its own, so that the same function given twice is two listeners.
      const own: OnChange = (resource) => onChange(resource)
      listeners.set(own, { isNew: true })
      if (listeners.size === 1) begin()
      return () => {
        if (listeners.delete(own) && listeners.size === 0) end()
      }
    },
  }
}
