/**
 * The options as doctor takes them: every fault is told, and what is sound among them still serves to
 * look at the database and at Kafka, so that one slip in a batch size hides no trouble elsewhere.
 */

import type { Config } from '../config/config.js'
import { configWarnings, loadConfig } from '../config/load-config.js'
import type { Needs } from '../config/option.js'
import type { Environment } from '../config/read-options.js'
import { tokensMissing, weakTokens } from '../config/weak-tokens.js'
import { AppError } from '../errors.js'
import { failed, warning, worstOf, type Verdict } from './finding.js'

export interface UsableOptions {
  readonly verdict: Verdict
  /** Undefined where not even an address of the database is known. */
  readonly forDatabase: Config | undefined
  /** Undefined where it isn't known whether and where Kafka is. */
  readonly forKafka: Config | undefined
}

const setTokens =
  'set DECK_ADMIN_TOKEN, and DECK_READ_TOKEN for who may only look, each to what `openssl rand -hex 16` ' +
  'prints; or let only this machine reach the port (HTTP_HOST=127.0.0.1)'

/** As `serve` needs them. */
const all: Needs = { database: true, kafka: true, http: true }

export function usableOptions(environment: Environment): UsableOptions {
  try {
    const config = loadConfig(environment, all)
    const slips = configWarnings(environment)
    const weak = weakTokens(config.deck)
    const verdict = worstOf(
      [
        ...slips.map((found) => warning(found, 'correct the name')),
        ...weak.map((found) => warning(found, 'take what `openssl rand -hex 16` prints')),
        ...tokensMissing(config).map((found) => warning(found, setTokens)),
      ],
      'in order',
    )
    return { verdict, forDatabase: config, forKafka: config }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return {
      verdict: failed(error.message, 'correct them where the service gets its environment'),
      forDatabase: lenient(environment, { database: true, kafka: false, http: false }),
      forKafka: lenient(environment, { database: false, kafka: true, http: false }),
    }
  }
}

/** Without those that are wrong in themselves; where the rest don't go together, with addresses only. */
function lenient(environment: Environment, needs: Needs): Config | undefined {
  const sound = Object.entries(environment).filter(
    ([name, value]) => attempt({ [name]: value }, nothing) !== undefined,
  )
  const addresses = sound.filter(([name]) =>
    /^(DATABASE_URL|LOCK_DATABASE_URL|KAFKA_|OUTBOX_RELAY|OUTBOX_TOPIC)/.test(name),
  )
  return attempt(Object.fromEntries(sound), needs) ?? attempt(Object.fromEntries(addresses), needs)
}

const nothing: Needs = { database: false, kafka: false, http: false }

function attempt(environment: Environment, needs: Needs): Config | undefined {
  try {
    return loadConfig(environment, needs)
  } catch {
    return undefined
  }
}
