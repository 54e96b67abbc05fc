/**
 * The outbox relay: publishes what is due, at least once, in order per deal.
 *
 * It polls, and is woken for what this process wrote. Of all instances one holds the lock and
 * publishes; the others stand by. An outage of the database or of Kafka is waited for; the relay
 * itself ends only when it is stopped. Idle it costs the database one look at an index a poll
 * interval and one for old rows each half minute, and Kafka one question after the topic each ten
 * seconds.
 */

import { logOutbox } from './outbox-log.js'
import { createPublishPasses, type PublishPasses } from './publish-passes.js'
import { proofAgeMs } from './publisher.js'
import { takeTurn, type RelayTurn } from './relay-lock.js'
import type { RelayDependencies, RelayOptions } from './relay-options.js'
import { deleteSettledEvents, retentionBatchRows } from './retention.js'
import { createTransportState, type TransportState } from './transport-state.js'
import { createWakeableSleep } from './wakeable-sleep.js'

export interface RelayHealth {
  readonly role: 'starting' | 'publisher' | 'standby' | 'stopped'
  /** When the loop last tried, by the relay's monotonic clock; undefined before the first time. */
  readonly lastTryAt: number | undefined
  readonly broker: { readonly reachable: true } | { readonly reachable: false; reason: string }
  /** What the database answered, where the relay's last step failed by it. */
  readonly databaseFailure: Error | undefined
}

/** A standby looks for the lock by opening a session, which costs the server a process each time. */
const standbyPollMs = 5_000
/** Short against a failover of the database, long enough not to hammer a server that is starting. */
const databaseRetryMs = 2_000
/** One look at an index; more often would gain nothing at a retention of days. */
const pruneIntervalMs = 30_000
/** A healthy broker acknowledges in milliseconds. A stop waits this long, then leaves the answer. */
const stopPatienceMs = 3_000

interface Pause {
  readonly ms: number
  readonly wakeable: boolean
}

/** The lock, and the passes under it. */
interface Shift {
  readonly turn: RelayTurn
  readonly passes: PublishPasses
}

export class OutboxRelay {
  readonly #options: RelayOptions
  readonly #dependencies: RelayDependencies
  readonly #transport: TransportState
  readonly #pause = createWakeableSleep()
  /** Ends at once what sends nothing; what is being sent gets the time until `#giveUp`. */
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  #role: RelayHealth['role'] = 'starting'
  #lastTryAt: number | undefined
  #shift: Shift | undefined
  #wakeable = false
  #databaseFailure: Error | undefined
  /** What this outage was told to be so far: it may show itself by several messages in turn. */
  readonly #told = new Set<string>()
  #nextPruneAt = 0
  #loop: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(options: RelayOptions, dependencies: RelayDependencies) {
    this.#options = options
    this.#dependencies = dependencies
    this.#transport = createTransportState(dependencies)
  }

  /** Starts the loop; a second call, or one after `stop`, does nothing. */
  start(): void {
    if (this.#stopped === undefined) this.#loop ??= this.#run()
  }

  /** Something was written: look now. Nothing to a standby, for another instance publishes. */
  wake(): void {
    if (this.#wakeable) this.#pause.wake()
  }

  /** Ends the loop after the send under way, or without its answer where that takes too long. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#end())
  }

  health(): RelayHealth {
    const failure =
      this.#transport.failureFor(this.#options.topic) ??
      (this.#transport.lastAnswerAt === undefined ? 'not reached yet' : undefined)
    return {
      role: this.#role,
      lastTryAt: this.#lastTryAt,
      broker: failure === undefined ? { reachable: true } : { reachable: false, reason: failure },
      databaseFailure: this.#databaseFailure,
    }
  }

  async #run(): Promise<void> {
    while (this.#stopped === undefined) {
      this.#lastTryAt = this.#dependencies.now()
      const pause = await this.#step()
      this.#wakeable = pause.wakeable
      if (this.#isStopping()) break
      await this.#pause.sleep(pause.ms)
    }
    await this.#endShift()
  }

  /** `#stopped` as a call, for the compiler believes that no one sets it while the loop awaits. */
  #isStopping(): boolean {
    return this.#stopped !== undefined
  }

  /** One look at the world, and how long to wait before the next. Never rejects. */
  async #step(): Promise<Pause> {
    const barredMs = this.#transport.retryInMs()
    if (barredMs > 0) return { ms: barredMs, wakeable: false }
    try {
      const shift = await this.#holdTurn()
      if (shift === undefined) {
        await this.#proveReach()
        return { ms: standbyPollMs, wakeable: false }
      }
      const selected = await shift.passes.next()
      // The session went while the broker was waited for: no failure of the database, a new turn is due.
      if (selected > 0 && shift.turn.isLost()) return { ms: 0, wakeable: true }
      if (selected === 0) await this.#proveReach()
      const moreToPrune = await this.#prune(shift)
      this.#databaseAnswers()
      const idle = selected === 0 && !moreToPrune
      return { ms: idle ? this.#options.pollIntervalMs : 0, wakeable: true }
    } catch (error) {
      await this.#databaseFails(error)
      return { ms: databaseRetryMs, wakeable: false }
    }
  }

  async #holdTurn(): Promise<Shift | undefined> {
    if (this.#shift?.turn.isLost() === true) {
      logOutbox(this.#dependencies.log, 'outbox relay lost its lock', {})
      this.#shift = undefined
    }
    if (this.#shift !== undefined) return this.#shift
    const taken = await takeTurn(this.#options, this.#giveUp.signal, this.#stopping.signal)
    if ('db' in taken) {
      this.#shift = { turn: taken, passes: this.#passesUnder(taken) }
      this.#role = 'publisher'
      // A session that can be had, on a database that can't be used, is no news while that lasts.
      if (this.#databaseFailure === undefined)
        logOutbox(this.#dependencies.log, 'outbox relay started', {})
    } else {
      // Whether the tables can be used is the publisher's to find; the database answers.
      this.#databaseFailure = undefined
      this.#told.clear()
      if (this.#role === 'standby') return undefined
      this.#role = 'standby'
      logOutbox(this.#dependencies.log, 'outbox relay standby', { holder: taken.holder })
    }
    return this.#shift
  }

  #passesUnder({ db, signal }: RelayTurn): PublishPasses {
    const transport = this.#transport
    return createPublishPasses({ ...this.#options, ...this.#dependencies, transport, db, signal })
  }

  /** What has been acknowledged is marked first, unless the session can't any more. */
  async #endShift(): Promise<void> {
    const shift = this.#shift
    this.#shift = undefined
    await shift?.passes.settled().catch(() => undefined)
    await shift?.turn.release()
  }

  /** Readiness must tell of a broker that is away while there is nothing to send. */
  async #proveReach(): Promise<void> {
    const { lastAnswerAt } = this.#transport
    if (lastAnswerAt !== undefined && this.#dependencies.now() - lastAnswerAt < proofAgeMs) return
    const { topic } = this.#options
    const { signal } = this.#stopping
    await this.#transport.send(topic, () => this.#dependencies.publisher.publish(topic, [], signal))
  }

  /** Deletes one batch of old events now and then; true when there may be more. */
  async #prune({ turn, passes }: Shift): Promise<boolean> {
    if (this.#dependencies.now() < this.#nextPruneAt) return false
    await passes.settled()
    const deleted = await deleteSettledEvents(turn.db, this.#options.retentionMs)
    if (deleted > 0) logOutbox(this.#dependencies.log, 'outbox pruned', { events: deleted })
    const more = deleted === retentionBatchRows
    this.#nextPruneAt = more ? 0 : this.#dependencies.now() + pruneIntervalMs
    return more
  }

  /** A session that met any failure is given up: a new one is cheap, and in a known state. */
  async #databaseFails(error: unknown): Promise<void> {
    this.#role = 'starting'
    await this.#endShift()
    if (this.#isStopping()) return
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#databaseFailure = failure
    if (this.#told.has(failure.message)) return
    this.#told.add(failure.message)
    logOutbox(this.#dependencies.log, 'outbox waits for the database', { err: error })
  }

  #databaseAnswers(): void {
    if (this.#databaseFailure === undefined) return
    this.#databaseFailure = undefined
    this.#told.clear()
    logOutbox(this.#dependencies.log, 'outbox flows again', {})
  }

  async #end(): Promise<void> {
    // The loop looks at `#stopped`, which is set when this first await gives way.
    await Promise.resolve()
    this.#stopping.abort()
    const patience = setTimeout(() => this.#giveUp.abort(), stopPatienceMs)
    this.#pause.wake()
    await this.#loop
    clearTimeout(patience)
    if (this.#loop !== undefined) logOutbox(this.#dependencies.log, 'outbox relay stopped', {})
    this.#role = 'stopped'
  }
}
