/** Provisions: the list, and one deal with all that belongs to it. */

import { AppError } from '../../errors.js'
import { listProvisions } from '../../operations/list-provisions.js'
import { readProvisionFilter } from '../../operations/provision-filter.js'
import { showProvision } from '../../operations/show-provision.js'
import type { ApiContext, ApiServer } from './context.js'
import { readOnly } from './read-only.js'
import { routeSchema } from './route-schema.js'
import { page, provision, provisionDetail } from './schemas/answers.js'
import { dealParams, provisionsQuery } from './schemas/inputs.js'

export function addProvisionRoutes(app: ApiServer, { db, operator }: ApiContext): void {
  app.get(
    '/provisions',
    {
      schema: routeSchema({
        id: 'listProvisions',
        tag: 'provisions',
        summary: 'The provisions, most recently changed first',
        querystring: provisionsQuery,
        answers: { 200: { about: 'One page.', schema: page(provision) } },
      }),
    },
    ({ query: { limit, cursor, ...input } }) => {
      const filter = readProvisionFilter(input)
      const { maxAttempts } = operator
      return readOnly(db, (trx) => listProvisions(trx, { filter, maxAttempts, limit, cursor }))
    },
  )

  app.get(
    '/provisions/:dealId',
    {
      schema: routeSchema({
        id: 'showProvision',
        tag: 'provisions',
        summary: 'One deal: its provision, chat, events, and what operators did to it',
        params: dealParams,
        answers: { 200: { about: 'The deal.', schema: provisionDetail } },
      }),
    },
    async ({ params: { dealId } }) => {
      const detail = await readOnly(db, (trx) => showProvision(trx, operator.chatView, dealId))
      if (detail !== undefined) return detail
      throw new AppError('NOT_FOUND', `There is no provision for deal ${dealId}.`)
    },
  )
}
