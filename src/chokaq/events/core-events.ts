/** Passes events on within the process: at once, in order, to whoever listens at that moment. */

import type { CoreEvent, CoreEvents, CoreLog } from '../ports.js'

/** A listener that throws harms neither the job that the event speaks of nor the other listeners. */
export function createCoreEvents(log: CoreLog): CoreEvents {
  const listeners = new Set<(event: CoreEvent) => void>()
  return {
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event)
        } catch (error) {
          log.warn({ event: 'job event listener failed', err: error }, 'job event listener failed')
        }
      }
    },
    subscribe(listener) {
      // A wrapper of its own, so that the same function given twice is two listeners.
      const own = (event: CoreEvent): void => listener(event)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
