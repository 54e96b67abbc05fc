/**
 * The rules of change (contracts/README.md), held against every released copy: readers of the past
 * understand what is sent now, and today's readers understand what was sent in the past.
 */

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'

const contracts = new URL('../../contracts/', import.meta.url)
const released = new URL('released/', contracts)

interface ObjectSchema {
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, unknown>>
}

interface Message {
  readonly headers: unknown
  readonly value: unknown
}

async function readJson<T>(path: string, base: URL): Promise<T> {
  return JSON.parse(await readFile(new URL(path, base), 'utf8')) as T
}

async function compile(folder: URL, name: string): Promise<ValidateFunction> {
  const ajv = new Ajv2020()
  addFormats.default(ajv)
  return ajv.compile(await readJson(`deal-chat-status-changed.v1.${name}`, folder))
}

async function messages(path: string, base: URL): Promise<[string, Message][]> {
  const folder = new URL(path, base)
  const names = await readdir(folder)
  return Promise.all(
    names.map(async (name): Promise<[string, Message]> => [name, await readJson(name, folder)]),
  )
}

const versions = await readdir(released)

describe.each(versions)('release %s', async (version) => {
  const release = new URL(`${version}/`, released)
  const current = await messages('examples/valid/', contracts)
  const golden = await messages('golden/', release)

  test('is frozen', async () => {
    const sums = await readFile(new URL('SHA256SUMS', release), 'utf8')
    for (const line of sums.trimEnd().split('\n')) {
      const [sum, path] = line.split('  ') as [string, string]
      const bytes = await readFile(new URL(path, release))
      expect(createHash('sha256').update(bytes).digest('hex'), path).toBe(sum)
    }
  })

  test.each(current)('its readers understand %s', async (_, message) => {
    expect((await compile(release, 'reader.schema.json'))(message.value)).toBe(true)
    expect((await compile(release, 'headers.schema.json'))(message.headers)).toBe(true)
  })

  test.each(golden)('its message %s is understood today', async (_, message) => {
    expect((await compile(contracts, 'reader.schema.json'))(message.value)).toBe(true)
    expect((await compile(contracts, 'headers.schema.json'))(message.headers)).toBe(true)
  })

  test.each(['schema.json', 'headers.schema.json'])(
    'what its %s promised is promised still',
    async (name) => {
      const then = await readJson<ObjectSchema>(`deal-chat-status-changed.v1.${name}`, release)
      const now = await readJson<ObjectSchema>(`deal-chat-status-changed.v1.${name}`, contracts)
      expect(now.required).toEqual(expect.arrayContaining([...then.required]))
      expect(now.properties).toMatchObject(then.properties)
    },
  )
})
