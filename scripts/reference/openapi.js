/** The OpenAPI document as the server itself gives it; nothing here ever talks to a database. */

import { performance } from 'node:perf_hooks'
import { format } from 'prettier'
import { createApiParts } from '../../dist/api-context.js'
import { loadConfig } from '../../dist/config/load-config.js'
import { createDurableJobs } from '../../dist/durable-jobs.js'
import { createHttpServer } from '../../dist/http/server.js'
import { createLogger } from '../../dist/telemetry/logger.js'
import { createMetrics } from '../../dist/telemetry/metrics.js'

const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1/none', HTTP_PORT: '0' }

export async function openApiDocument() {
  const config = loadConfig(environment, { database: true, kafka: false, http: true })
  const log = createLogger({ level: 'silent' })
  const metrics = createMetrics({ relay: 'off' })
  const shared = { config, log, now: () => performance.now(), onEventWritten: () => undefined }
  const jobs = createDurableJobs({ ...shared, metrics })
  const api = createApiParts({ ...shared, jobs })
  const server = createHttpServer({
    ...shared,
    config: config.http,
    loops: [],
    checks: [],
    metrics,
    api: api.context,
  })
  const { address } = await server.start()
  try {
    const response = await globalThis.fetch(`${address}/api/v1/openapi.json`)
    return await format(await response.text(), { parser: 'json', printWidth: 100 })
  } finally {
    await server.stop()
    await api.close()
    await jobs.close()
  }
}
