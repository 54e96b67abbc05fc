/** The OpenAPI document as it is kept in the repository, and what it says of an answer. */

import { readFile } from 'node:fs/promises'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Operation {
  readonly operationId: string
  readonly requestBody?: unknown
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >
}

export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

export interface SeenAnswer {
  readonly method: string
  /** Below `/api/v1`, with its query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

export interface Document {
  readonly content: OpenApi
  /** What of the answer the document doesn't promise; empty: all is as promised. */
  readonly faultsOf: (answer: SeenAnswer) => readonly string[]
}

export const documentFile = new URL('../../docs/openapi.json', import.meta.url)

export async function readDocument(): Promise<Document> {
  const content = JSON.parse(await readFile(documentFile, 'utf8')) as OpenApi
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(content, 'api')
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` })
    validators.set(pointer, known)
    return known
  }
  return {
    content,
    faultsOf({ method, path, status, headers, body }) {
      const template = templateOf(content, path)
      const operation = content.paths[template ?? '']?.[method.toLowerCase()]
      // What the document doesn't know is refused, in the form that all errors have.
      if (operation === undefined) return [404, 405, 401].includes(status) ? [] : [`${status}`]
      const response = operation.responses[status]
      if (response === undefined) return [`${operation.operationId}: no answer ${status}`]
      const type = headers.get('content-type')?.split(';')[0] ?? ''
      if (response.content?.[type] === undefined) return [`${operation.operationId}: ${type}`]
      const steps = ['paths', template ?? '', method.toLowerCase(), 'responses', String(status)]
      const pointer = [...steps, 'content', type, 'schema'].map(escape).join('/')
      const validate = validatorOf(`/${pointer}`)
      if (validate(body)) return []
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${operation.operationId}: ${instancePath} ${message ?? ''}`,
      )
    },
  }
}

function templateOf(content: OpenApi, path: string): string | undefined {
  const [plain = ''] = `/api/v1${path}`.split('?')
  const matching = Object.keys(content.paths).filter((template) =>
    new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.')}$`).test(
      plain,
    ),
  )
  // A path that is written out goes before one with a parameter.
  return matching.sort((a, b) => a.split('{').length - b.split('{').length)[0]
}

/** RFC 6901, within a URI's fragment. */
function escape(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}
