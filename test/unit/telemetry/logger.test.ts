/** The log through a sink: what must be there, and what must never be. */

import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import { describeError } from '../../../src/telemetry/describe-error.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import { logEvent } from '../../../src/telemetry/log-events.js'

const password = 'p"w\\d-s3cret'
const url = `postgres://svc:${password}@db.example/app`

/** Lines as a log shipper gets them, and the same as one text to search. */
function sink() {
  const lines: string[] = []
  const log = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } })
  return {
    log,
    text: () => lines.join(''),
    entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

describe('log lines', () => {
  it('are JSON with ISO time and the promised level and event', () => {
    const { log, entries } = sink()
    logEvent(log.child({ jobRunId: 'run-1' }), 'provision retry', {
      dealId: 'deal-1',
      attempts: 3,
      errorCode: '23503',
    })
    expect(entries()).toEqual([
      expect.objectContaining({
        level: 40,
        event: 'provision retry',
        jobRunId: 'run-1',
        dealId: 'deal-1',
        attempts: 3,
        errorCode: '23503',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      }),
    ])
  })

  it('hide secret fields however they are spelt and nested', () => {
    const { log, text } = sink()
    log.info({
      title: 'Villa for Ann',
      row: { Title: 'Villa for Ann', members: [{ userId: 'ann' }] },
      headers: { Authorization: 'Bearer abcdefgh', 'set-cookie': 'abcdefgh' },
      options: [{ adminToken: 'abcdefgh', DECK_READ_TOKEN: 'abcdefgh' }],
      sasl: { username: 'svc', password: 'abcdefgh' },
    })
    log.child({ title: 'Villa for Ann', members: ['ann'] }).info('x')
    expect(text()).not.toMatch(/Villa|ann|abcdefgh/)
    expect(text()).toContain('svc')
  })

  it.each([
    ['the message', (log: ReturnType<typeof createLogger>) => log.info(`connecting to ${url}`)],
    ['a format argument', (log) => log.info('connecting to %s', url)],
    ['a field', (log) => log.info({ target: url }, 'connecting')],
    ['an error', (log) => log.error(new Error(`can't reach ${url} now`))],
    [
      'a cause',
      (log) => log.error({ err: new Error('x', { cause: new Error(`at ${url}`) }) }, 'y'),
    ],
    ['a binding', (log) => log.child({ target: url }).info('x')],
    ['an aggregate', (log) => log.error({ err: new AggregateError([new Error(url)], 'all') }, 'y')],
    ['libpq text', (log) => log.info(`host=db password=${password} user=svc`)],
    ['another scheme', (log) => log.info('https://svc:p-s3cret@registry.example/')],
  ] as [string, (log: ReturnType<typeof createLogger>) => void][])(
    'hide a connection string in %s',
    (_place, write) => {
      const { log, text, entries } = sink()
      write(log)
      expect(text()).toContain('[redacted]')
      expect(text()).not.toContain('s3cret')
      expect(entries()).toHaveLength(1)
    },
  )

  it('show an error with its code and causes, without the values that PostgreSQL quotes', () => {
    const { log, text, entries } = sink()
    const cause = Object.assign(new Error('invalid input syntax for type uuid: "Villa for Ann"'), {
      code: '22P02',
      detail: 'Failing row contains (1, Villa for Ann).',
      constraint: 'ux_dcp_deal',
    })
    log.error({ err: new Error('the attempt failed', { cause }) }, 'attempt')
    expect(text()).not.toContain('Villa')
    expect(entries()[0]).toMatchObject({
      msg: 'attempt',
      err: {
        type: 'Error',
        message: 'the attempt failed',
        stack: expect.stringContaining('logger.test.ts') as string,
        cause: { code: '22P02', constraint: 'ux_dcp_deal' },
      },
    })
  })

  it.each([
    ['written for people', new AppError('SCHEMA_MISSING', 'Run: migrate up')],
    ['of a server that is away', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
    ['of tables that lack', Object.assign(new Error('no such relation'), { code: '42P01' })],
  ])('without frames where the message says it all: %s', (_name, error) => {
    const described = describeError(error) as Record<string, string>
    expect(described).not.toHaveProperty('stack')
    expect(described['message']).toBe(error.message)
  })

  it('end at an error that is its own cause', () => {
    const { log, entries } = sink()
    const error = new Error('round')
    error.cause = error
    log.error(error)
    expect(entries()).toHaveLength(1)
  })
})

describe('an error whose name or code is not one', () => {
  it('is cut, so that it does not fill the log', () => {
    const error = Object.assign(new Error('m'), {
      name: 'N'.repeat(5_000),
      code: 'C'.repeat(5_000),
    })
    const described = describeError(error) as Record<string, string>
    expect(described['type']).toBe('N'.repeat(200))
    expect(described['code']).toBe('C'.repeat(200))
    expect(described['stack']?.startsWith(`${'N'.repeat(200)}: m\n`)).toBe(true)
  })
})
