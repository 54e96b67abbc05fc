/** The stylesheet and the script, from their folder alone, with ETags; they hold nothing secret. */

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { DeckServer } from './context.js'

const folder = fileURLToPath(new URL('./assets/', import.meta.url))
const idiomorph = fileURLToPath(import.meta.resolve('idiomorph'))

export async function addAssets(app: DeckServer): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, isPublic: true }
    })
    await scope.register(fastifyStatic, {
      ...{ root: folder, prefix: '/assets/', index: false, cacheControl: false },
      // Asked for again with each page, and sent again only where it has changed.
      setHeaders: (reply) => void reply.setHeader('cache-control', 'no-cache'),
    })
    scope.get('/assets/idiomorph.js', (_request, reply) =>
      reply.sendFile('idiomorph.esm.js', dirname(idiomorph)),
    )
  })
}
