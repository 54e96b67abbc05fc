/** The API's OpenAPI document: valid, complete, and the one that the service gives. */

import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../support/openapi.js'

/** As promised to tools; below /api/v1. */
const promised = [
  ...['GET summary', 'GET series', 'GET settings', 'GET events', 'GET openapi.json'],
  ...['GET provisions', 'GET provisions/{dealId}', 'GET outbox', 'GET outbox/{id}'],
  ...['GET jobs', 'GET jobs/{id}', 'GET queues', 'GET runs', 'GET audit'],
  ...['POST provisions/requeue', 'POST provisions/reemit', 'POST provisions/reconcile'],
  ...['POST outbox/{id}/replay', 'POST outbox/{id}/skip'],
  ...['POST jobs/{id}/cancel', 'POST jobs/{id}/resurrect', 'POST jobs/{id}/priority'],
  ...['PATCH queues/{name}', 'POST audit/{id}/undo'],
]

describe('the OpenAPI document', () => {
  it('is valid 3.1', async () => {
    const { content } = await readDocument()
    const result = await new Validator().validate({ ...structuredClone(content) })
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(content.openapi).toMatch(/^3\.1\./)
  })

  it('holds what was promised, and nothing else that changes something', async () => {
    const { content } = await readDocument()
    const all = Object.entries(content.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(
        (method) => `${method.toUpperCase()} ${path.replace('/api/v1/', '')}`,
      ),
    )
    expect(all.filter((name) => !name.startsWith('HEAD ')).sort()).toEqual(promised.toSorted())
  })

  it('says of each operation how it refuses, and of each schema that it is used', async () => {
    const { content } = await readDocument()
    for (const operations of Object.values(content.paths)) {
      for (const { operationId, requestBody, responses } of Object.values(operations)) {
        const expected = ['400', '401', '403', '404', '429', '500', '503']
        if (requestBody !== undefined) expected.push('413', '415')
        const missing = expected.filter((status) => responses[status] === undefined)
        expect({ operationId, missing }).toEqual({ operationId, missing: [] })
      }
    }
    const text = JSON.stringify(content)
    for (const name of Object.keys(content.components.schemas)) {
      expect(text).toContain(`"#/components/schemas/${name}"`)
    }
  })
})
