/** The whole at a glance, and the options in force. */

import type { ApiContext, ApiServer } from './context.js'
import { routeSchema } from './route-schema.js'
import { settings, summary } from './schemas/action-answers.js'

export function addOverviewRoutes(app: ApiServer, context: ApiContext): void {
  app.get(
    '/summary',
    {
      schema: routeSchema({
        id: 'getSummary',
        tag: 'overview',
        summary: 'What waits, what is poison, what was done last',
        description: 'From one look at the database, shared by all who ask within 5 seconds.',
        answers: { 200: { about: 'The summary.', schema: summary } },
      }),
    },
    () => context.summary(),
  )

  app.get(
    '/settings',
    {
      schema: routeSchema({
        id: 'getSettings',
        tag: 'overview',
        summary: 'The options in force, without secrets',
        answers: { 200: { about: 'All options.', schema: settings } },
      }),
    },
    () => ({ items: context.config.settings }),
  )
}
