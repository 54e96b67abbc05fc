/**
 * Kafka for the demo, by the first rung that holds: brokers of one's own (KAFKA_BROKERS), Docker,
 * Java with Maven, and else no Kafka at all but the stdout relay. Says which, and why not the others.
 */

import type { KafkaOptions } from '../config/config.js'
import type { CrmReader } from './crm-reader.js'
import { getKafkaImage, runKafkaContainer, whyNoDocker } from './docker-kafka.js'
import { consumeTopic, ensureTopic, type TopicConsumer } from './kafka-topic.js'
import { findLocalKafkaTools, startLocalKafka } from './servers/local-kafka.js'

const topic = 'pin.messenger.deal-chat-status-changed.v1'
/** On brokers that are not the demo's own, so that nobody takes its deals for real ones. */
const foreignTopic = `demo.${topic}`

/** Time for brokers that run already: one that needs longer is not there. */
const ownPatienceMs = 5_000
/** A broker that starts, on two busy cores. */
const startPatienceMs = 60_000

/** How the worker is to publish, known before a broker is up: it waits for one by itself. */
export interface RelayPlan {
  readonly relay: 'kafka' | 'stdout'
  readonly topic: string
  /** Options of the worker. */
  readonly environment: Readonly<Record<string, string>>
}

/** What the events go through in the end. */
export interface Arrival {
  readonly plan: RelayPlan
  /** For people. */
  readonly what: string
  /** Starts reading as crm; with the stdout relay the worker's output is read instead. */
  consume(reader: CrmReader): Promise<TopicConsumer | undefined>
  /** Ends what was started for it. */
  stop(): Promise<void>
}

export interface Climb {
  readonly plan: RelayPlan
  /** Resolves once a broker serves, or with the stdout relay where none could be started. */
  readonly arrival: Promise<Arrival>
}

export interface LadderOptions {
  /** As KAFKA_BROKERS and its like say, with the variables that say so. */
  readonly own:
    { readonly kafka: KafkaOptions; readonly environment: Record<string, string> } | undefined
  /** Free, for a broker of the demo's own. */
  readonly port: number
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

interface Rung {
  readonly name: string
  readonly start: (options: LadderOptions) => Promise<StartingBroker>
}

interface StartingBroker {
  /** Resolves with its last words if it ends by itself; absent where it serves already. */
  readonly ended?: Promise<string>
  readonly stop: () => Promise<void>
}

const stdoutPlan: RelayPlan = { relay: 'stdout', topic, environment: { OUTBOX_RELAY: 'stdout' } }
const stdoutArrival: Arrival = {
  plan: stdoutPlan,
  what: 'the stdout relay: JSON lines, no Kafka',
  consume: () => Promise.resolve(undefined),
  stop: () => Promise.resolve(),
}

/** Resolves as soon as it is known how the worker is to publish, within seconds. */
export async function climbKafkaLadder(options: LadderOptions): Promise<Climb> {
  const passOver = (name: string, why: string): void =>
    options.say(`Kafka: passed over ${name}: ${why}`)
  const own = await tryOwn(options, passOver)
  if (own !== undefined) return { plan: own.plan, arrival: Promise.resolve(own) }
  const [noDocker, java] = await Promise.all([whyNoDocker(), findLocalKafkaTools()])
  const rungs: Rung[] = []
  if (noDocker === undefined) rungs.push({ name: 'Docker', start: startInDocker })
  else passOver('Docker', noDocker)
  if (java.available) rungs.push({ name: 'Java', start: startWithJava })
  else passOver('Java', java.reason)
  if (rungs.length === 0) {
    options.say(`Kafka: ${stdoutArrival.what}`)
    return { plan: stdoutPlan, arrival: Promise.resolve(stdoutArrival) }
  }
  const brokers = [`127.0.0.1:${options.port}`]
  const plan: RelayPlan = { relay: 'kafka', topic, environment: { KAFKA_BROKERS: brokers.join() } }
  const arrival = climb(rungs, brokers, plan, options, passOver)
  // Owned from here on: it may reject long before somebody waits for it.
  arrival.catch(() => undefined)
  return { plan, arrival }
}

async function tryOwn(
  { own, say, signal }: LadderOptions,
  passOver: (name: string, why: string) => void,
): Promise<Arrival | undefined> {
  if (own === undefined) {
    passOver('KAFKA_BROKERS', 'it is not set')
    return undefined
  }
  const named = own.kafka.brokers.join(', ')
  try {
    await ensureTopic(own.kafka, foreignTopic, ownPatienceMs, signal)
  } catch (error) {
    passOver(`KAFKA_BROKERS (${named})`, reason(error))
    return undefined
  }
  say(`Kafka: your own (${named}), topic ${foreignTopic}`)
  return {
    plan: {
      relay: 'kafka',
      topic: foreignTopic,
      environment: { ...own.environment, OUTBOX_TOPIC: foreignTopic },
    },
    what: `your own Kafka (${named})`,
    consume: (reader) => consumeTopic(own.kafka, foreignTopic, reader),
    stop: () => Promise.resolve(),
  }
}

async function climb(
  rungs: readonly Rung[],
  brokers: readonly string[],
  plan: RelayPlan,
  options: LadderOptions,
  passOver: (name: string, why: string) => void,
): Promise<Arrival> {
  const kafka = plainKafka(brokers)
  for (const rung of rungs) {
    options.say(`Kafka: starting a broker with ${rung.name} …`)
    let broker: StartingBroker | undefined
    try {
      broker = await rung.start(options)
      await untilItServes(kafka, broker, options.signal)
      options.say(`Kafka: a real broker by ${rung.name} at ${brokers.join()}`)
      const what = `a real broker by ${rung.name}`
      const { stop } = broker
      return { plan, what, consume: (reader) => consumeTopic(kafka, topic, reader), stop }
    } catch (error) {
      await broker?.stop()
      options.signal.throwIfAborted()
      passOver(rung.name, reason(error))
    }
  }
  options.say(`Kafka: ${stdoutArrival.what}`)
  return stdoutArrival
}

async function untilItServes(
  kafka: KafkaOptions,
  { ended }: StartingBroker,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController()
  const served = ensureTopic(kafka, topic, startPatienceMs, AbortSignal.any([signal, gone.signal]))
  void ended?.then((lastLines) => gone.abort(new Error(`the broker ended:\n${lastLines}`)))
  await served
}

async function startInDocker({ port, say, signal }: LadderOptions): Promise<StartingBroker> {
  await getKafkaImage(say, signal)
  return runKafkaContainer(port)
}

async function startWithJava({ port, say, signal }: LadderOptions): Promise<StartingBroker> {
  const kafka = await startLocalKafka({ port, log: (line) => say(`Kafka: ${line}`), signal })
  return { stop: () => kafka.stop() }
}

function plainKafka(brokers: readonly string[]): KafkaOptions {
  return { brokers, clientId: 'demo', ssl: false, sslCaFile: undefined, sasl: undefined }
}

/** The first and the last line: between them a failed program's usage or a stack trace may stand. */
function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const lines = message.trim().split('\n')
  const shown = lines.length === 1 ? lines : [lines[0] ?? '', lines.at(-1) ?? '']
  return shown.map((line) => line.slice(0, longestReason)).join(' … ')
}

/** A command line with its class path would fill the screen. */
const longestReason = 160
