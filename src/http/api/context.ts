/** What the routes of the API are given. */

import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Kysely } from 'kysely'
import type { CallersTransaction, CoreEvents, JobQueue, JobRegistry } from '../../chokaq/index.js'
import type { Config } from '../../config/config.js'
import type { JobMoves } from '../../operations/act-on-jobs.js'
import type { ReconcileContext } from '../../operations/mend-deal.js'
import type { Database } from '../../postgres/schema.js'
import type { Logger } from '../../telemetry/logger.js'
import type { Logouts } from '../logouts.js'
import type { Sessions } from '../session.js'
import type { Summary } from './schemas/action-answers.js'

export interface ApiContext {
  readonly config: Config
  /** Of the API's own pool, so that it keeps neither the job nor a heartbeat waiting. */
  readonly db: Kysely<Database>
  /** On the same pool. */
  readonly operator: ReconcileContext
  readonly jobs: {
    readonly queue: JobQueue<CallersTransaction>
    readonly moves: JobMoves
    readonly events: CoreEvents
    readonly registry: Pick<JobRegistry, 'definitions'>
  }
  /** One for all who ask. @throws AppError DATABASE_UNAVAILABLE where nothing is known yet */
  readonly summary: () => Promise<Summary>
  /** Of browsers, which The Deck gives and the stream of events takes. */
  readonly sessions: Sessions
  /** Those of them that are over before their time. */
  readonly logouts: Logouts
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export type ApiServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>
