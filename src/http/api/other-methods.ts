/** A path that exists, asked by a method that it hasn't: 405 with those that it has, not 404. */

import type { ApiServer } from './context.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where the method is refused: the methods of the path. */
    readonly allow?: string
  }
}

/** Call it before the routes are added, and what it returns afterwards. */
export function collectMethods(app: ApiServer): () => void {
  const methodsOf = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ routePath, method }) => {
    // The first page of all is told of twice, with its slash and without.
    const path = routePath === '' ? '/' : routePath
    const methods = methodsOf.get(path) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    methodsOf.set(path, methods)
  })
  return () => {
    for (const [url, methods] of [...methodsOf]) {
      const allow = [...methods].sort().join(', ')
      app.route({
        url,
        method: app.supportedMethods.filter((name) => !methods.has(name)),
        schema: { hide: true },
        exposeHeadRoute: false,
        config: { allow },
        // Answered before it comes to that, after who asks is known.
        handler: () => undefined,
      })
    }
  }
}
