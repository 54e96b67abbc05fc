/** The OpenAPI document, as the paths beside it are. */

import { z } from 'zod'
import type { ApiServer } from './context.js'
import { routeSchema } from './route-schema.js'

export function addDocumentRoute(app: ApiServer): void {
  app.get(
    '/openapi.json',
    {
      schema: routeSchema({
        id: 'getDocument',
        tag: 'overview',
        summary: 'This document',
        answers: {
          200: { about: 'OpenAPI 3.1.', schema: z.record(z.string(), z.unknown()) },
        },
      }),
    },
    () => app.swagger(),
  )
}
