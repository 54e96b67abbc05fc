/**
 * Watches for changes on behalf of all pages that are open: one look a second at the database however
 * many they are, and none while there is no page. What this process does itself is told at once.
 */

import type { CoreEvent } from '../../chokaq/index.js'
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
  jobs,
  log,
}: Pick<ApiContext, 'db' | 'jobs' | 'log'>): ChangeWatch {
  const listeners = new Set<OnChange>()
  let watching: AbortController | undefined
  let endEvents: (() => void) | undefined
  let last: ChangeMarks | undefined

  const tell = (changed: readonly Resource[]): void => {
    for (const resource of changed) for (const listener of listeners) listener(resource)
  }

  async function look(): Promise<void> {
    const marks = await readOnly(db, readChangeMarks)
    const before = last
    last = marks
    if (before !== undefined) tell(resources.filter((name) => marks[name] !== before[name]))
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
    endEvents = jobs.events.subscribe(({ kind }) => tell(ofCoreEvent[kind]))
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
      listeners.add(own)
      if (listeners.size === 1) begin()
      return () => {
        if (listeners.delete(own) && listeners.size === 0) end()
      }
    },
  }
}
