/**
 * `/deck`: the page on-call looks at. Rendered here, readable without script, live by the stream of
 * events. It uses the readers and actions of `operations` as the API does.
 *
 * A page: a file in `pages/` with a function that adds its routes, called below, made of `parts/`; a line
 * in `sections.ts` where the navigation leads to it. A list is a filter bar, a pager and a table, as in
 * `pages/provisions.tsx`. An action: `addAction` with what it reads, shows and does, as in
 * `pages/requeue.tsx`. What the visitor may do, forms' tokens and expired sessions are seen to by
 * `gate.tsx` for every route, errors by `pages/error.tsx`. Text is escaped where an element says `safe`,
 * and `npm run escaping` refuses any that doesn't. No inline script or style: the policy forbids it.
 */

import formBody from '@fastify/formbody'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import type { ApiLimits } from '../api/api.js'
import { collectMethods } from '../api/other-methods.js'
import { createRateKey } from '../api/rate-key.js'
import { addTimeLimit } from '../api/time-limit.js'
import { problem, problemOfError } from '../problem-of-error.js'
import type { Problem } from '../problem.js'
import { addAssets } from './assets.js'
import type { DeckContext } from './context.js'
import { longestPayload } from './form-limit.js'
import { addGate } from './gate.js'
import { addAuditPage } from './pages/audit.js'
import { addBulkActions } from './pages/bulk-actions.js'
import { addDealActions } from './pages/deal-actions.js'
import { sendErrorPage } from './pages/error.js'
import { addEventPage } from './pages/event.js'
import { addIntakePages } from './pages/intake.js'
import { addJobPage } from './pages/job.js'
import { addJobsPage } from './pages/jobs.js'
import { addLogin } from './pages/login.js'
import { addOutboxPage } from './pages/outbox.js'
import { addOverviewPage } from './pages/overview.js'
import { addProvisionPage } from './pages/provision.js'
import { addProvisionsPage } from './pages/provisions.js'
import { addQueuesPage } from './pages/queues.js'
import { addRequeue } from './pages/requeue.js'
import { addRunsPage } from './pages/runs.js'
import { addSettingsPage } from './pages/settings.js'
import { setPolicy } from './policy.js'

/** As the API has by default: a page that reads anew once a second, in a few windows. */
const usualReadsPerMinute = 1_200

export async function addDeck(
  root: FastifyInstance,
  deck: DeckContext,
  { readsPerMinute }: Pick<ApiLimits, 'readsPerMinute'> = { readsPerMinute: usualReadsPerMinute },
): Promise<void> {
  await root.register(
    async (app) => {
      app.addHook('onRequest', async (_request, reply) => {
        setPolicy(reply)
      })
      // Forms alone: what else fastify reads by itself is no form of The Deck.
      app.removeAllContentTypeParsers()
      await app.register(formBody)
      await app.register(rateLimit, {
        max: readsPerMinute,
        timeWindow: '1 minute',
        keyGenerator: createRateKey(deck.config.deck, deck.sessions),
      })
      addTimeLimit(app, (reply, late, request) => sendErrorPage(request, reply, late))
      addErrors(app, deck)
      addGate(app, deck)
      const refuseOtherMethods = collectMethods(app)
      await addAssets(app)
      addLogin(app, deck)
      addOverviewPage(app, deck)
      addProvisionsPage(app, deck)
      addProvisionPage(app, deck)
      addRequeue(app, deck)
      addDealActions(app, deck)
      addBulkActions(app, deck)
      addOutboxPage(app, deck)
      addEventPage(app, deck)
      addIntakePages(app, deck)
      addJobsPage(app, deck)
      addJobPage(app, deck)
      addQueuesPage(app, deck)
      addRunsPage(app, deck)
      addAuditPage(app, deck)
      addSettingsPage(app, deck)
      refuseOtherMethods()
    },
    { prefix: '/deck' },
  )
}

/** Whether a person at a browser reads the answer. */
export function isOfDeck(url: string): boolean {
  return /^\/deck(?:[/?]|$)/.test(url)
}

/** What a form can't be, in words for whoever filled it in. */
function ofForm(error: unknown): Problem | undefined {
  const { code } = error as { readonly code?: unknown }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return problem(415, 'Forms are sent as application/x-www-form-urlencoded. Nothing was done.')
  }
  if (code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return undefined
  const detail =
    'More was sent than a form here may hold, and nothing was done. Go back, where what you typed may ' +
    `still be, and shorten it: a job's payload has at most ${longestPayload / 1024} KiB.`
  return problem(413, detail)
}

function addErrors(app: FastifyInstance, { logFailure }: Pick<DeckContext, 'logFailure'>): void {
  app.setNotFoundHandler((request, reply) =>
    sendErrorPage(request, reply, problem(404, 'There is no such page.')),
  )
  app.setErrorHandler((error, request, reply) => {
    const known = ofForm(error) ?? problemOfError(error)
    if (known === undefined || known.status >= 500) logFailure(request, error, known)
    const detail = 'This is a fault of the service; its log says more.'
    return sendErrorPage(request, reply, known ?? { status: 500, title: 'Internal error', detail })
  })
}
