/**
 * The API under requests that nobody would send, made from its own document: no fault of the service,
 * each answer as documented, nothing changed without a token, no secret in any answer or log line.
 * The requests are the same in each run; FUZZ_SECONDS makes it try others, at random, for so long.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { mustRun } from '../support/must-run.js'
import { missingSchemathesis, runSchemathesis } from '../support/schemathesis.js'
import { useTestDatabase } from '../support/test-database.js'
import { workerLogin } from '../support/database-template.js'
import { adminToken, readToken, seedEvent, serveApi, type ServedApi } from './http-api-fixtures.js'

const seconds = process.env['FUZZ_SECONDS']
const timeout = (Number(seconds ?? 0) + 240) * 1_000
const effort =
  seconds === undefined
    ? ['--generation-deterministic', '--max-examples', '20']
    : ['--max-time', seconds]
const title = 'Секретный объект №7'

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'ignored_auth',
].join(',')

const database = useTestDatabase()

mustRun(
  'Schemathesis',
  missingSchemathesis,
  describe,
)('a fuzzed API', () => {
  let api: ServedApi
  let folder: string
  let userId: string
  let ids: { readonly deals: string[]; readonly events: string[]; readonly jobs: string[] }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fuzz-'))
    api = await serveApi(database())
    const seeded = [await seedDeal(database().admin, { title, attempts: 10 })]
    for (let n = 0; n < 9; n += 1) seeded.push(await seedDeal(database().admin, { title }))
    userId = seeded[0]?.members[0]?.userId ?? ''
    const deals = seeded.map(({ dealId }) => dealId)
    const events = await Promise.all(deals.map((dealId) => seedEvent(database(), dealId)))
    await api.ask('/queues/operations', { method: 'PATCH', body: { paused: true, reason: 'x' } })
    const job = { filter: { poison: true }, reason: 'fuzz' }
    const { body } = await api.post('/provisions/requeue', job)
    ids = { deals, events, jobs: [String(body['jobId'])] }
  })
  afterAll(async () => {
    await api.app.stop()
    await rm(folder, { recursive: true })
  })

  /** The document, with ids that exist among those that may be tried. */
  async function document(): Promise<string> {
    const file = join(folder, 'openapi.json')
    const text = JSON.stringify(api.document.content, (_key, value: unknown) => {
      if (typeof value !== 'object' || value === null || !('name' in value)) return value
      const { name, in: place, schema } = value as { name: string; in?: string; schema?: object }
      if (place !== 'path' || schema === undefined) return value
      const known = name === 'dealId' ? ids.deals : [...ids.events, ...ids.jobs]
      return { ...value, schema: { anyOf: [schema, { enum: known }] } }
    })
    await writeFile(file, text)
    return file
  }

  async function fuzz(name: string, token: string | undefined): Promise<readonly Answer[]> {
    const har = join(folder, `${name}.har`)
    const { exitCode, report } = await runSchemathesis(
      [
        ...['run', await document(), '--url', api.address, '--checks', checks],
        ...(token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]),
        ...['--exclude-path', '/api/v1/events', '--phases', 'examples,coverage,fuzzing'],
        ...effort,
        ...['--output-sanitize', 'false'],
        ...['--report-har-path', har, '--suppress-health-check', 'all', '--no-color'],
      ],
      folder,
    )
    const answers = await readAnswers(har)
    expect(exitCode === 0 ? '' : report.slice(-10_000)).toBe('')
    return answers
  }

  it.each([
    ['reader', readToken],
    ['nobody', undefined],
  ])('changes nothing for %s, and tells nothing secret', { timeout }, async (name, token) => {
    const before = await everything()
    const answers = await fuzz(name, token)
    expect(answers.length).toBeGreaterThan(100)
    expect(await everything()).toBe(before)
    expectNoSecrets(answers)
    const good = answers.filter(({ status }) => status < 300)
    if (token === undefined) expect(good).toEqual([])
    else expect(good.length).toBeGreaterThan(0)
  })

  it('never fails for the admin, and tells nothing secret', { timeout }, async () => {
    const answers = await fuzz('admin', adminToken)
    expect(answers.some(({ status, method }) => status < 300 && method !== 'GET')).toBe(true)
    expectNoSecrets(answers)
    expect(api.logged()).not.toContain('"event":"http failed"')
    // It still serves.
    expect((await api.ask('/summary')).status).toBe(200)
  })

  function expectNoSecrets(answers: readonly Answer[]): void {
    const secrets = [readToken, adminToken, workerLogin.password, title, userId, 'postgres://']
    const texts = [...answers.map(({ text }) => text), api.logged()]
    for (const secret of secrets) {
      expect(texts.filter((text) => text.includes(secret)).slice(0, 1)).toEqual([])
    }
  }

  /** All that an operator could change. */
  async function everything(): Promise<string> {
    const rows = await database().query(
      `select (select json_agg(p order by id) from messenger.deal_chat_provisions p)::text,
         (select json_agg(e order by id) from messenger.outbox_events e)::text,
         (select json_agg(a order by id) from messenger.chat_provision_audit a)::text,
         (select json_agg(j order by id) from chokaq.jobs_hot j)::text,
         (select json_agg(q order by name) from chokaq.queues q)::text`,
    )
    return JSON.stringify(rows)
  }
})

interface Answer {
  readonly method: string
  readonly status: number
  /** Headers and body. */
  readonly text: string
}

interface Har {
  readonly log: {
    readonly entries: readonly {
      readonly request: { readonly method: string }
      readonly response: {
        readonly status: number
        readonly headers: unknown
        readonly content?: { readonly text?: string }
      }
    }[]
  }
}

async function readAnswers(file: string): Promise<readonly Answer[]> {
  const { log } = JSON.parse(await readFile(file, 'utf8')) as Har
  return log.entries.map(({ request, response }) => ({
    method: request.method,
    status: response.status,
    text: JSON.stringify(response.headers) + (response.content?.text ?? ''),
  }))
}
