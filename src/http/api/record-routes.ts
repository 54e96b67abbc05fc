/** What is on record: cycles, and what operators did. */

import { listAudit } from '../../operations/audit-trail.js'
import { listRuns } from '../../operations/list-runs.js'
import type { ApiContext, ApiServer } from './context.js'
import { readOnly } from './read-only.js'
import { routeSchema } from './route-schema.js'
import { auditLine, page, run } from './schemas/answers.js'
import { auditQuery, pageQuery } from './schemas/inputs.js'

export function addRecordRoutes(app: ApiServer, { db }: ApiContext): void {
  app.get(
    '/runs',
    {
      schema: routeSchema({
        id: 'listRuns',
        tag: 'records',
        summary: 'The cycles, newest first',
        querystring: pageQuery,
        answers: { 200: { about: 'One page.', schema: page(run) } },
      }),
    },
    ({ query }) => readOnly(db, (trx) => listRuns(trx, query)),
  )

  app.get(
    '/audit',
    {
      schema: routeSchema({
        id: 'listAudit',
        tag: 'records',
        summary: 'What operators did, newest first',
        querystring: auditQuery,
        answers: { 200: { about: 'One page.', schema: page(auditLine) } },
      }),
    },
    ({ query }) => readOnly(db, (trx) => listAudit(trx, query)),
  )
}
