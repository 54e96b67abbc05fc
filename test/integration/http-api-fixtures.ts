/** The service itself, on a database of its own, with its API asked as tools and people ask it. */

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import { createApp, type App } from '../../src/app.js'
import { loadConfig } from '../../src/config/load-config.js'
import { createLogger } from '../../src/telemetry/logger.js'
import type { TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { readDocument, type Document } from '../support/openapi.js'

export const readToken = 'reader-4f1d2c9b7a'
export const adminToken = 'admin-8e3b6a5d0c'
export const tokens = { DECK_READ_TOKEN: readToken, DECK_ADMIN_TOKEN: adminToken }

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  /** Parsed where it is JSON. */
  readonly body: Record<string, unknown> & {
    readonly items?: readonly Record<string, unknown>[]
    readonly detail?: string
  }
  readonly text: string
}

export interface Ask {
  readonly method?: string
  /** Default: the admin's; null: none. */
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServedApi {
  readonly address: string
  readonly app: App
  readonly logged: () => string
  readonly document: Document
  /** Each answer is held to the OpenAPI document. */
  readonly ask: (path: string, request?: Ask) => Promise<ApiAnswer>
  readonly post: (path: string, body: unknown, request?: Ask) => Promise<ApiAnswer>
}

/** After its first cycle; the next is far off, so that rows stay as a test has left them. */
export async function serveApi(
  database: TestDatabase,
  options: Readonly<Record<string, string>> = tokens,
  apiLimits = { readsPerMinute: 1_000_000, changesPerMinute: 1_000_000 },
): Promise<ServedApi> {
  const lines: string[] = []
  const config = loadConfig(
    {
      DATABASE_URL: database.url,
      // Nobody listens there: events stay as a test has left them.
      KAFKA_BROKERS: '127.0.0.1:9',
      HTTP_PORT: '0',
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1d',
      ...options,
    },
    { database: true, kafka: true, http: true },
  )
  const log = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } })
  const onFatal = (error: Error): void => void lines.push(error.message)
  const app = createApp({ config, log, onFatal, apiLimits })
  await app.start()
  const logged = (): string => lines.join('')
  const address = /"address":"(http:[^"]+)"/.exec(logged())?.[1] ?? ''
  await waitFor('the first cycle', () => logged().includes('"event":"cycle completed"'))
  const document = await readDocument()
  const ask: ServedApi['ask'] = async (
    path,
    { method = 'GET', token = adminToken, ...rest } = {},
  ) => {
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(rest.body !== undefined && { 'content-type': 'application/json' }),
        ...rest.headers,
      },
      ...(rest.body !== undefined && { body: JSON.stringify(rest.body) }),
    })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text }
    const body = (text === '' ? {} : JSON.parse(text)) as ApiAnswer['body']
    expect(document.faultsOf({ method, path, ...answer, body })).toEqual([])
    return { ...answer, body }
  }
  const post: ServedApi['post'] = (path, body, request = {}) =>
    ask(path, { method: 'POST', body, ...request })
  return { address, app, logged, document, ask, post }
}

/** Registers a service for the tests around, and its end; the returned function gives it inside them. */
export function useApi(
  database: () => TestDatabase,
  options: () => Readonly<Record<string, string>> = () => tokens,
): () => ServedApi {
  let api: ServedApi | undefined
  beforeAll(async () => {
    api = await serveApi(database(), options())
  })
  afterAll(() => api?.app.stop())
  return () => {
    if (api === undefined) throw new Error('the service exists only inside tests')
    return api
  }
}

/**
 * All that a test may have left, but the tables of others. A service is at work on them meanwhile: of two
 * that wait for each other's locks the server ends one, and where that is this one it begins anew.
 */
export async function emptyTables(database: TestDatabase): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    try {
      await truncateAll(database)
      return true
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === deadlockDetected) return false
      throw error
    }
  }
  while (!(await isDone()));
}

const deadlockDetected = '40P01'

async function truncateAll(database: TestDatabase): Promise<void> {
  await database.query(
    `truncate messenger.deal_chat_provisions, messenger.outbox_events,
       messenger.chat_provision_audit, messenger.chat_provision_runs,
       messenger.operator_requests, chokaq.jobs_hot,
       chokaq.jobs_dlq, chokaq.jobs_archive, chokaq.queues cascade`,
  )
}

/** An event that is parked, or as the columns say; returns its id. */
export async function seedEvent(
  database: TestDatabase,
  dealId: string = randomUUID(),
  columns = 'parked_at',
  values = 'now()',
): Promise<string> {
  const id = randomUUID()
  await database.query(
    `insert into messenger.outbox_events
       (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, ${columns})
     values ($1, 'DealChatProvision', $2, 'DealChatStatusChanged', 't', 1,
       '{"Status":"Ready"}', ${values})`,
    [id, dealId],
  )
  return id
}
