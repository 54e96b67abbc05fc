/** The OpenAPI document, made of the same schemas that validate. */

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

type Document = ReturnType<typeof jsonSchemaTransformObject>

const description = `What on-call and tools do with chat-provision-retry. The command line does the same with the
service down.

**Access.** \`Authorization: Bearer\` with the token of DECK_READ_TOKEN (reads) or DECK_ADMIN_TOKEN
(reads and changes). Where neither is set, the API is there only while the server is bound to
loopback and asked by that name, and needs no token.

**Changes** are JSON with a \`reason\`, and may say who acts in \`by\`; both are kept in the audit.
Given deals are done at once (200); what a filter means becomes a durable job (202).
With the header \`Idempotency-Key\` a change may be sent again: it is carried out once, and answered alike.

**Lists** are pages: give \`nextCursor\` as \`cursor\` to go on.

**Rates** are limited by token and address, without a token by address, and minute (1200 reads, 300 changes of a
kind); 429 says when to come back.

**Errors** are \`application/problem+json\` (RFC 9457), whose detail says what to do.`

export const documentOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'chat-provision-retry', version: '1', description },
    tags: [
      { name: 'overview', description: 'The whole at a glance, live.' },
      { name: 'provisions', description: 'The intentions, one for each deal.' },
      { name: 'outbox', description: 'Events on their way to crm.' },
      { name: 'jobs', description: "The operator's long work, and its queues." },
      { name: 'records', description: 'Cycles and the audit.' },
    ],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
  },
  transform: jsonSchemaTransform,
  transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document)),
}

/** Each schema comes once for what is sent and once for what is answered; most are only one of them. */
function withoutUnused(document: Document): Document {
  if (!('components' in document)) return document
  let used: object = document.components.schemas ?? {}
  for (;;) {
    const text = JSON.stringify({ ...document, components: { schemas: used } })
    const left = Object.fromEntries(
      Object.entries(used).filter(([name]) => text.includes(`"#/components/schemas/${name}"`)),
    )
    if (Object.keys(left).length === Object.keys(used).length) break
    used = left
  }
  return { ...document, components: { ...document.components, schemas: used } } as Document
}
