/** `health`: asks the service that runs here with the same options how it is, for a container's health check. */

import { loadConfig } from '../config/load-config.js'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import { printJson, printLine } from './output.js'

/** What looks for a health check gives up after a few seconds as well; an answer takes milliseconds. */
const answerTimeoutMs = 4_000

/**
 * Prints `ok`, or each reason why not on a line of its own.
 *
 * @returns 0 where all is well, 1 where it is not or nobody answers
 * @throws AppError CONFIG_INVALID, USAGE where the port is picked anew at each start
 */
export async function health(
  environment: Environment,
  options: { ready?: true; json?: true },
): Promise<0 | 1> {
  const { http } = loadConfig(environment, { database: false, kafka: false, http: true })
  if (http.port === 0) {
    throw new AppError('USAGE', 'HTTP_PORT is 0, so nobody knows the port: give it a number')
  }
  const path = options.ready ? '/readyz' : '/healthz'
  const reasons = await reasonsAgainst(`http://${ownHost(http.host)}:${http.port}${path}`)
  await (options.json
    ? printJson({ ok: reasons.length === 0, reasons })
    : printLine(reasons.length === 0 ? 'ok' : reasons.join('\n')))
  return reasons.length === 0 ? 0 : 1
}

/** An address that a server listens at is not always one that can be asked: all of them can't. */
function ownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

async function reasonsAgainst(url: string): Promise<string[]> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerTimeoutMs) })
    if (response.ok) return []
    const { reasons } = (await response.json()) as { reasons?: string[] }
    return reasons ?? [`${url} answers ${response.status}`]
  } catch (error) {
    return [`${url} gives no answer: ${causeOf(error)}`]
  }
}

/** fetch says "fetch failed", and why only in its cause. */
function causeOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: unknown }; message?: unknown }
  return String(cause?.code ?? message)
}
