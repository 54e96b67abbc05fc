/** The contract's files hold together: schemas, examples, and what this service really writes. */

import { readdir, readFile } from 'node:fs/promises'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'

const contracts = new URL('../../contracts/', import.meta.url)

interface Example {
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly value: unknown
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(path, contracts), 'utf8')) as unknown
}

/** `strict` refuses keywords that the standard doesn't know, so a misspelt rule can't pass. */
async function compile(name: string): Promise<ValidateFunction> {
  const ajv = new Ajv2020({ strict: true, allErrors: true })
  addFormats.default(ajv)
  return ajv.compile((await readJson(`deal-chat-status-changed.v1.${name}`)) as object)
}

const producer = await compile('schema.json')
const reader = await compile('reader.schema.json')
const headers = await compile('headers.schema.json')

async function examples(kind: 'valid' | 'invalid'): Promise<[string, Example][]> {
  const names = await readdir(new URL(`examples/${kind}/`, contracts))
  return Promise.all(
    names.map(async (name): Promise<[string, Example]> => {
      return [name, (await readJson(`examples/${kind}/${name}`)) as Example]
    }),
  )
}

describe('valid examples', async () => {
  test.each(await examples('valid'))('%s keeps every schema', (_, example) => {
    expect(producer(example.value), JSON.stringify(producer.errors)).toBe(true)
    expect(reader(example.value), JSON.stringify(reader.errors)).toBe(true)
    expect(headers(example.headers), JSON.stringify(headers.errors)).toBe(true)
    expect(example.value).toMatchObject({ DealId: example.key })
    expect(example.headers).toMatchObject({ ce_subject: example.key, 'aggregate-id': example.key })
  })
})

describe('invalid examples', async () => {
  test.each(await examples('invalid'))('%s is refused', (_, example) => {
    expect(producer(example.value) && headers(example.headers)).toBe(false)
  })
})

describe('a reader', () => {
  const event = {
    DealId: '3F2504E0-4F89-41D3-9A0C-0305E82C3301',
    ChatId: null,
    Status: 'Failed',
    OccurredAt: '2026-01-02T03:04:05Z',
  }

  test.each([
    ['a field that came later', { ...event, Reason: 'x' }],
    ['a status that came later', { ...event, Status: 'Archived' }],
    ['a ChatId left out', { ...event, ChatId: undefined }],
  ])('takes %s', (_, value) => {
    expect(reader(JSON.parse(JSON.stringify(value)))).toBe(true)
  })

  test.each([
    ['no object', 'x'],
    ['no deal', { ...event, DealId: undefined }],
    ['no status', { ...event, Status: '' }],
  ])('refuses what it can’t use: %s', (_, value) => {
    expect(reader(JSON.parse(JSON.stringify(value)))).toBe(false)
  })
})
