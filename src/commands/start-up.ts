/** What the commands that do the service's work begin with: the options, and a log that tells of slips. */

import type { Config } from '../config/config.js'
import { configWarnings, loadConfig } from '../config/load-config.js'
import type { Environment } from '../config/read-options.js'
import { tokensMissing, weakTokens } from '../config/weak-tokens.js'
import type { Needs } from '../config/option.js'
import { createLogger, type Logger } from '../telemetry/logger.js'

/** @throws AppError CONFIG_INVALID */
export function startUp(environment: Environment, needs: Needs): { config: Config; log: Logger } {
  const config = loadConfig(environment, needs)
  const log = createLogger({ level: config.logLevel })
  for (const warning of configWarnings(environment)) {
    log.warn({ event: 'option ignored', warning }, 'option ignored')
  }
  const ofTokens = needs.http ? [...weakTokens(config.deck), ...tokensMissing(config)] : []
  for (const warning of ofTokens) {
    log.warn({ event: 'token weak', warning }, 'token weak')
  }
  return { config, log }
}
