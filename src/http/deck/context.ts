/** What The Deck's pages are given, and who looks at them. */

import type { FastifyInstance } from 'fastify'
import type { Caller } from '../api/access.js'
import type { FailureLog } from '../failure-log.js'
import type { ApiContext } from '../api/context.js'
import type { FormTokens } from './form-token.js'

export interface DeckContext extends ApiContext {
  /** One line for each thing that is not in order. */
  readonly readiness: () => Promise<readonly string[]>
  readonly logFailure: FailureLog
}

/** Below `/deck`. */
export type DeckServer = FastifyInstance

export interface Visitor {
  readonly caller: Caller
  readonly canChange: boolean
  /** False where no tokens are set: then there is nothing to log in to, or out of. */
  readonly hasLogin: boolean
  /** Prove that a form is of this session's own pages. */
  readonly forms: FormTokens
}
