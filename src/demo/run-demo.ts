/**
 * The demo: real servers, deals that had failed in every way, the real worker, and a reader of the
 * topic as crm has it. Its end is checked: every deal must be where the outcome table puts it.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../config/read-options.js'
import { checkDeals, type CheckedDeal } from './check-deals.js'
import { CrmReader } from './crm-reader.js'
import type { DemoDeal } from './demo-deal.js'
import { startDemoDatabase, type DemoDatabase } from './demo-database.js'
import { DemoWorker, demoOptions } from './demo-worker.js'
import { createEventWay, type EventWay } from './event-way.js'
import { feedDeals } from './feed-deals.js'
import { climbKafkaLadder, type Climb, type LadderOptions, type RelayPlan } from './kafka-ladder.js'
import { lookAtDeals } from './look-at-deals.js'
import { createProgress, type Progress, type Screen } from './progress.js'
import { count, misplacedDeals, resultTable } from './result-table.js'
import { setScenes } from './scenes.js'
import { findFreePort, isFree } from './servers/free-port.js'
import { makeTemporaryFolder } from './servers/server-cache.js'
import { untilSettled } from './until-settled.js'

/** `serve`'s own default, which a person would try first. */
const usualHttpPort = 8080

export interface RunDemoOptions {
  readonly deals: readonly DemoDeal[]
  /** Stay open with the worker running until `signal`, once all is checked. */
  readonly stayOpen: boolean
  readonly ownKafka: LadderOptions['own']
  readonly environment: Environment
  readonly screen: Screen
  /** Ends the demo at any time; all that it started is ended and removed. */
  readonly signal: AbortSignal
}

/** @throws DemoFailure, or AppError, where it can't be played to its end */
export async function runDemo(options: RunDemoOptions): Promise<0 | 1> {
  const progress = createProgress(options.screen, () => performance.now())
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  const closers: (() => Promise<void>)[] = []
  const folder = await makeTemporaryFolder('chat-provision-retry-demo-')
  let keepLog = true
  try {
    const result = await play({ ...options, signal }, progress, closers, folder)
    keepLog = result === 1
    return result
  } catch (error) {
    if (!options.signal.aborted) throw error
    keepLog = false
    progress.clear()
    progress.say('Interrupted.')
    return 1
  } finally {
    progress.clear()
    ending.abort(new Error('the demo has ended'))
    // Last started, first ended; what fails to end must not keep the rest from it.
    for (const close of closers.reverse()) {
      await close().catch((error: unknown) => progress.say(`could not be ended: ${String(error)}`))
    }
    if (!keepLog) await rm(folder, { recursive: true, force: true })
  }
}

async function play(
  options: RunDemoOptions,
  progress: Progress,
  closers: (() => Promise<void>)[],
  folder: string,
): Promise<0 | 1> {
  const { deals, environment, signal } = options
  const say = (line: string): void => progress.say(line)
  const { database, climb } = await startServers(options, say, closers)
  const { db } = database
  const reader = new CrmReader(deals.map(({ dealId }) => dealId))
  const way = createEventWay(climb, reader)
  closers.push(() => way.close())
  signal.throwIfAborted()

  await feedDeals(db, deals)
  const before = await lookAtDeals(db)
  const kinds = new Set(deals.map(({ kind }) => kind)).size
  say(`Fed ${count(deals.length, 'deal')} of ${count(kinds, 'kind')}; the worker starts.`)
  const httpPort = (await isFree(usualHttpPort)) ? usualHttpPort : await findFreePort()
  const logFile = join(folder, 'worker.log')
  const worker = new DemoWorker({
    databaseUrl: database.workerUrl,
    httpPort,
    environment,
    logFile,
    onMessage: (message) => reader.take(message),
  })
  closers.push(() => worker.close())
  const crashWorker = async (): Promise<void> => {
    await worker.kill()
    await worker.start(way.plan)
  }
  const scenes = await setScenes({ db, topic: climb.plan.topic, crashWorker, say }, deals)
  closers.push(() => scenes.close())
  await worker.start(way.plan)
  say(`The Deck shows it going by: ${deckAt(httpPort)}`)

  const checked = await untilSettled({
    db,
    way,
    worker,
    scenes,
    reader,
    progress,
    signal,
    check: async () => checkDeals(deals, before, await lookAtDeals(db), (id) => reader.seen(id)),
  })
  progress.clear()
  const result = tell(checked, reader, way, logFile, say)
  if (result === 0 && options.stayOpen)
    await stayOpen(options, database, way.plan, httpPort, logFile, say)
  return result
}

/** In parallel; what has started is ended even where the other did not start. */
async function startServers(
  options: RunDemoOptions,
  say: (line: string) => void,
  closers: (() => Promise<void>)[],
): Promise<{ database: DemoDatabase; climb: Climb }> {
  const { ownKafka: own, signal } = options
  say('Starting PostgreSQL, and looking for Kafka …')
  const port = await findFreePort()
  const [database, climb] = await Promise.allSettled([
    startDemoDatabase(),
    climbKafkaLadder({ own, port, say, signal }),
  ])
  if (database.status === 'fulfilled') closers.push(() => database.value.close())
  if (climb.status === 'fulfilled') {
    closers.push(async () => {
      const arrival = await climb.value.arrival.catch(() => undefined)
      await arrival?.stop()
    })
  }
  if (database.status === 'rejected') throw database.reason
  if (climb.status === 'rejected') throw climb.reason
  return { database: database.value, climb: climb.value }
}

function tell(
  checked: readonly CheckedDeal[],
  reader: CrmReader,
  way: EventWay,
  logFile: string,
  say: (line: string) => void,
): 0 | 1 {
  const { events, redelivered } = reader.counts
  const wrong = [...misplacedDeals(checked), ...reader.faults.map((fault) => `topic: ${fault}`)]
  for (const line of ['', ...resultTable(checked), '']) say(line)
  say(
    `crm read ${count(events, 'event')} from ${way.what}; dropped as redelivered: ${redelivered}.`,
  )
  if (wrong.length === 0) {
    say(`All in place, in the database and for crm: ${count(checked.length, 'deal')}.`)
    return 0
  }
  say('NOT where they must be:')
  for (const line of wrong) say(`  ${line}`)
  say(`The worker's log: ${logFile}`)
  return 1
}

function deckAt(httpPort: number): string {
  return `http://127.0.0.1:${httpPort}/deck`
}

/** As a shell takes them. The user's own secrets are not printed: who has set them knows them. */
function exportLines(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment)
    .filter(([name]) => name !== 'KAFKA_SASL_PASSWORD')
    .map(([name, value]) => `  export ${name}='${value.replaceAll("'", "'\\''")}'`)
}

async function stayOpen(
  { signal }: RunDemoOptions,
  { workerUrl }: DemoDatabase,
  plan: RelayPlan,
  httpPort: number,
  logFile: string,
  say: (line: string) => void,
): Promise<void> {
  const address = `http://127.0.0.1:${httpPort}`
  const lines = [
    '',
    'The worker goes on. What to look at next:',
    `  ${deckAt(httpPort)}: The Deck, where on-call looks and acts`,
    `  ${address}/healthz   ${address}/readyz   ${address}/metrics`,
    '  runbooks/chat-provision-retry.md: what on-call does with the deals that are out of attempts',
    '  In another shell, with the options that the worker has:',
    ...exportLines({ ...demoOptions, ...plan.environment, DATABASE_URL: workerUrl }),
    '  node dist/cli.js doctor',
    '  node dist/cli.js provisions list --poison',
    `  ${logFile}: the worker's log`,
    'Ctrl-C ends it and removes all that it made.',
  ]
  for (const line of lines) say(line)
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve)
    if (signal.aborted) resolve(undefined)
  })
}
