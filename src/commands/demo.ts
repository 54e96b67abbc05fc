/** `demo`: checks what it was given, then plays the main job on servers of its own. */

import { loadConfig } from '../config/load-config.js'
import type { Environment } from '../config/read-options.js'
import { untilSignalled } from './until-signalled.js'

export interface DemoOptions {
  readonly deals: number
  /** A file with one JSON deal per line; `deals` is then not looked at. */
  readonly from?: string
  /** End when all is done, instead of staying open. */
  readonly exit?: true
}

/**
 * Its parts are imported only here: the embedded PostgreSQL is a development dependency, which an
 * installation for production does not have.
 *
 * @throws AppError where the file or an option is wrong, or a server can't be had
 */
export async function demoCommand(environment: Environment, options: DemoOptions): Promise<0 | 1> {
  const signal = untilSignalled()
  const ownKafka = readOwnKafka(environment)
  const [{ readDealFile }, { dealsOfFile }, { mixDeals }] = await Promise.all([
    import('../demo/deal-file.js'),
    import('../demo/deals-of-file.js'),
    import('../demo/mix-deals.js'),
  ])
  const { from } = options
  const deals = from === undefined ? mixDeals(options.deals) : dealsOfFile(await readDealFile(from))
  const [{ runDemo }, { DemoFailure }] = await Promise.all([
    import('../demo/run-demo.js'),
    import('../demo/demo-failure.js'),
  ])
  const stayOpen = options.exit !== true
  try {
    const screen = process.stdout
    return await runDemo({ deals, stayOpen, ownKafka, environment, screen, signal })
  } catch (error) {
    if (!(error instanceof DemoFailure)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    return 1
  }
}

/** Of the user's options the demo takes those of Kafka alone, and only with brokers among them. */
function readOwnKafka(environment: Environment) {
  const kafka = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith('KAFKA_') && value !== undefined ? [[name, value] as const] : [],
    ),
  )
  if (!kafka['KAFKA_BROKERS'] && !kafka['KAFKA_BROKERS_FILE']) return undefined
  const needs = { database: false, kafka: true, http: false }
  const config = loadConfig({ ...kafka, OUTBOX_RELAY: 'kafka' }, needs)
  return { kafka: config.kafka, environment: kafka }
}
