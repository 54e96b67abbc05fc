/** Onion middleware around handlers: what each job passes on its way in and, reversed, on its way out. */

import type { JobContext } from '../worker/job-context.js'

/**
 * Calls `next` once, or not at all, which ends the job as succeeded without its handler. An error that
 * it throws, or lets through, is the job's.
 */
export type Middleware = (context: JobContext, next: () => Promise<void>) => Promise<void>

export type Pipeline = (context: JobContext, handler: () => Promise<void>) => Promise<void>

/** The first is the outermost. */
export function composeMiddleware(middleware: readonly Middleware[]): Pipeline {
  return (context, handler) => {
    const enter = (depth: number): Promise<void> => {
      const layer = middleware[depth]
      if (layer === undefined) return handler()
      let entered = false
      return layer(context, () => {
        // A handler run twice for one attempt is a fault of the layer that nothing else would show.
        if (entered) return Promise.reject(new RangeError('a middleware called next() twice'))
        entered = true
        return enter(depth + 1)
      })
    }
    return enter(0)
  }
}
