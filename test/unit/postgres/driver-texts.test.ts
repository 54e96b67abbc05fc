/**
 * The drivers throw plain Errors where a connection fails, told apart by their texts alone. So every
 * text in their sources is looked at here: a newer driver with a new one fails this test, and
 * somebody decides.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { classifyFailure } from '../../../src/postgres/failure-class.js'

const fromHere = createRequire(import.meta.url)
const fromPg = createRequire(fromHere.resolve('pg'))

const sources = [
  ...['client', 'connection', 'query', 'crypto/sasl', 'crypto/cert-signatures'].map((name) =>
    join(dirname(fromHere.resolve('pg/lib/client')), `${name}.js`),
  ),
  fromPg.resolve('pg-pool'),
  join(dirname(fromPg.resolve('pg-protocol')), 'parser.js'),
  join(dirname(fromHere.resolve('kysely')), 'driver/runtime-driver.js'),
  join(dirname(fromHere.resolve('kysely')), 'dialect/postgres/postgres-driver.js'),
]

/** Texts that say nothing about the connection: the caller's own mistake. */
const ofTheCaller = [
  'Client has already been connected. You cannot reuse a client.',
  'Password must be a string',
  'Client was passed a null or undefined query',
  'callback is not a function',
  ' not supported in pipeline mode',
  'A query must have either text or a name. Supplying neither is unsupported.',
  'Prepared statements must be unique - ',
  'Query values must be an array',
  'Release called on client which has already been released to the pool.',
  'unexpected condition',
  'Passing a function as the first parameter to pool.query is not supported',
  'Called end on pool more than once',
  'Binary mode not supported yet',
  'first argument must be a Buffer',
  'second argument must be a Buffer',
  'Buffer lengths must match',
  'Buffers cannot be empty',
  'The `savepoint` method is not supported by this driver',
  'The `rollbackToSavepoint` method is not supported by this driver',
  'The `releaseSavepoint` method is not supported by this driver',
  "'cursor' is not present in your postgres dialect config.",
  'chunkSize must be a positive integer',
]

/** Every text that these files construct an error with; of a template, with its gaps left out. */
function textsIn(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  const constructed = /\b(?:Type|Database)?Error\(\s*(?<quote>['"`])(?<text>.*?)\k<quote>/gs
  return [...source.matchAll(constructed)].map(({ groups }) =>
    (groups?.['text'] ?? '').replace(/\$\{[^}]*\}/g, ''),
  )
}

const texts = [...new Set(sources.flatMap(textsIn))]

describe('an error text of the drivers', () => {
  it('is found in their sources', () => {
    expect(texts).toContain('Connection terminated unexpectedly')
    expect(texts.length).toBeGreaterThan(50)
  })

  it.each(texts.filter((text) => !isOfTheCaller(text)))('%j is a failed connection', (text) => {
    const code = /^SASL|SSL connection/.test(text) ? 'HANDSHAKE_FAILED' : 'CONNECTION_LOST'
    expect(classifyFailure(new Error(text))).toEqual({ class: 'infrastructure', code })
    expect(classifyFailure(new Error(`No! ${text}`)).class).toBe('bug')
  })

  it.each(ofTheCaller)('%j is not, and is still there', (text) => {
    expect(classifyFailure(new Error(text)).class).toBe('bug')
    expect(texts.some((there) => there.startsWith(text))).toBe(true)
  })

  it.each([
    'timeout expired for this deal',
    'SASLO is no harbour of ours',
    'Received unexpected message from backend.',
  ])('that only resembles one, %j, is the row’s own', (text) => {
    expect(classifyFailure(new Error(text)).class).toBe('bug')
  })
})

function isOfTheCaller(text: string): boolean {
  return ofTheCaller.some((start) => text.startsWith(start))
}
