/** The relay as a part of a process: start, stop, wake, one publisher among several, run once. */

import { Writable } from 'node:stream'
import { beforeEach, describe, expect, test } from 'vitest'
import { drainOutbox } from '../../../src/outbox/drain-outbox.js'
import type { Publisher } from '../../../src/outbox/publisher.js'
import { StdoutPublisher } from '../../../src/outbox/stdout-publisher.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import {
  appendEvent,
  createTestRelay,
  outboxState,
  type SeededEvent,
  type TestRelay,
  type TestRelayOptions,
} from './relay-fixtures.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const never = new AbortController().signal

beforeEach(async () => {
  await database().query('truncate messenger.outbox_events')
})

/** A pipe with a reader that keeps what comes, can be slow, and can go away. */
function createPipe(): {
  publisher: StdoutPublisher
  ids: string[]
  hold: (() => void)[] | undefined
} {
  const pipe = {
    ids: [] as string[],
    hold: undefined as (() => void)[] | undefined,
    publisher: undefined as unknown as StdoutPublisher,
  }
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().trimEnd().split('\n')) {
        const { headers } = JSON.parse(line) as { headers: Record<string, string> }
        pipe.ids.push(String(headers['ce_id']))
      }
      if (pipe.hold === undefined) done()
      else pipe.hold.push(done)
    },
  })
  pipe.publisher = new StdoutPublisher(stream)
  return pipe
}

function createRelay(
  options: Partial<TestRelayOptions> & Pick<TestRelayOptions, 'publisher'>,
): TestRelay {
  return createTestRelay(database(), { topic, ...options })
}

const append = (): Promise<SeededEvent> => appendEvent(database(), { topic })

const isPublished = async ({ id }: SeededEvent): Promise<boolean> =>
  (await outboxState(database(), id)).state === 'published'

describe('the relay', () => {
  test('bears start and stop twice, stop before start, and start after stop', async () => {
    const early = createRelay(createPipe())
    await early.relay.stop()
    early.relay.start()
    await early.relay.stop()
    expect(early.relay.health()).toMatchObject({ role: 'stopped', lastTryAt: undefined })

    const pipe = createPipe()
    const { relay, said } = createRelay(pipe)
    relay.start()
    relay.start()
    const event = await append()
    await waitFor('the event', () => isPublished(event))
    await Promise.all([relay.stop(), relay.stop()])
    expect(pipe.ids).toEqual([event.id])
    expect(said('outbox relay started')).toHaveLength(1)
    expect(said('outbox relay stopped')).toHaveLength(1)
  })

  test('is woken for what this process wrote, and polls for the rest', async () => {
    const { relay } = createRelay({ ...createPipe(), pollIntervalMs: 3_600_000 })
    relay.start()
    await waitFor('the first look', () => relay.health().broker.reachable)
    const event = await append()
    await waitFor('the event', () => {
      relay.wake()
      return isPublished(event)
    })
  })

  test('takes options as long as they may be', async () => {
    const longest = 24 * 86_400_000
    const { relay } = createRelay({
      ...createPipe(),
      pollIntervalMs: longest,
      sendTimeoutMs: longest,
    })
    const event = await append()
    relay.start()
    await waitFor('the event', () => isPublished(event))
  })

  test('publishes by one of two instances; the other takes over when the first has gone', async () => {
    const first = createPipe()
    const second = createPipe()
    const holder = createRelay(first)
    holder.relay.start()
    await waitFor('the lock', () => holder.relay.health().role === 'publisher')
    const standby = createRelay(second)
    standby.relay.start()
    await waitFor('the standby', () => standby.relay.health().role === 'standby')
    expect(standby.said('outbox relay standby')).toMatchObject([
      { holder: expect.stringContaining('relay under test') as string },
    ])
    const one = await append()
    await waitFor('the first event', () => isPublished(one))
    await holder.relay.stop()
    const other = await append()
    await waitFor('the second event', () => isPublished(other))
    expect([first.ids, second.ids]).toEqual([[one.id], [other.id]])
  })

  test.each(['its first look', 'a later look'])(
    'L2, O2: loses its session in mid-send of %s, marks nothing by it, and goes on with a new one',
    async (look) => {
      const pipe = createPipe()
      const { relay, said } = createRelay(pipe)
      pipe.hold = []
      const event = look === 'its first look' ? await append() : undefined
      relay.start()
      await waitFor('the lock', () => relay.health().role === 'publisher')
      const sent = event ?? (await append())
      await waitFor('the send', () => pipe.ids.length === 1)
      await database().query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'relay under test'`,
      )
      await waitFor('the new session', () => said('outbox relay started').length === 2)
      expect(said('outbox relay lost its lock')).toHaveLength(1)
      expect(said('outbox waits for the database')).toEqual([])
      const held = pipe.hold
      pipe.hold = undefined
      held.forEach((done) => done())
      await waitFor('the event', () => isPublished(sent))
      expect(pipe.ids).toEqual([sent.id, sent.id])
      expect((await outboxState(database(), sent.id)).attempts).toBe(0)
    },
  )

  test('tells once of a database that is away, and goes on when it is back', async () => {
    const pipe = createPipe()
    const { relay, said, lines } = createRelay(pipe)
    relay.start()
    const first = await append()
    await waitFor('the event', () => isPublished(first))
    await database().query('alter table messenger.outbox_events rename to outbox_gone')
    await waitFor('the line', () => said('outbox waits for the database').length === 1)
    const tries = new Set<number | undefined>()
    await waitFor('some more tries', () => tries.add(relay.health().lastTryAt).size > 3)
    await database().query('alter table messenger.outbox_gone rename to outbox_events')
    const second = await append()
    await waitFor('the next event', () => isPublished(second))
    expect(said('outbox waits for the database')).toHaveLength(1)
    expect(said('outbox relay started')).toHaveLength(1)
    expect(said('outbox flows again')).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('postgres://')
  })

  test('a stop leaves a reader that never reads, and the event for the next start', async () => {
    const pipe = createPipe()
    const { relay } = createRelay(pipe)
    relay.start()
    await waitFor('the lock', () => relay.health().role === 'publisher')
    pipe.hold = []
    const event = await append()
    await waitFor('the send', () => pipe.ids.length === 1)
    await relay.stop()
    expect(await isPublished(event)).toBe(false)
  })
})

describe('drainOutbox', () => {
  const drain = async (
    options: Partial<TestRelayOptions> & Pick<TestRelayOptions, 'publisher'>,
    signal = never,
  ): ReturnType<typeof drainOutbox> => {
    const { options: relayOptions, dependencies } = createRelay(options)
    return drainOutbox(relayOptions, dependencies, signal)
  }

  test('publishes until nothing is due', async () => {
    const pipe = createPipe()
    for (let n = 0; n < 7; n += 1) await append()
    expect(await drain({ ...pipe, batchSize: 2 })).toEqual({ published: 7, failure: undefined })
    expect(await drain(pipe)).toEqual({ published: 0, failure: undefined })
    expect(pipe.ids).toHaveLength(7)
  })

  test('tells of events that are left for another topic, which is missing', async () => {
    const { publisher: pipe, ids } = createPipe()
    const publisher: Publisher = {
      publish: (to, messages, signal) =>
        to === topic
          ? pipe.publish(to, messages, signal)
          : Promise.resolve({ kind: 'unavailable', scope: 'topic', reason: 'no such topic' }),
    }
    const left = await appendEvent(database(), { topic: 'former' })
    await append()
    const { published, failure } = await drain({ publisher })
    expect({ published, ids: ids.length }).toEqual({ published: 1, ids: 1 })
    expect(failure).toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      message:
        'Not all events could be published (no such topic). They wait in the outbox; once the cause is ' +
        'mended (`doctor` says how), `serve` or the next run publishes them.',
    })
    expect(await isPublished(left)).toBe(false)
  })

  test('leaves the work to a relay that is running', async () => {
    const pipe = createPipe()
    const running = createRelay(pipe)
    running.relay.start()
    await waitFor('the lock', () => running.relay.health().role === 'publisher')
    expect(await drain(createPipe())).toEqual({ published: 0, failure: undefined })
  })

  test('says what is left when the reader has gone, or the time is up', async () => {
    const gone = new Writable({ write: (_c, _e, done) => done(new Error('write EPIPE')) })
    const event = await append()
    const { published, failure } = await drain({ publisher: new StdoutPublisher(gone) })
    expect(published).toBe(0)
    expect(failure).toMatchObject({ code: 'BROKER_UNAVAILABLE' })
    expect(failure?.message).toContain('EPIPE')

    const late = await drain(createPipe(), AbortSignal.abort())
    expect(late.failure?.message).toContain('out of time')
    expect(await outboxState(database(), event.id)).toMatchObject({ state: 'pending', attempts: 0 })
  })
})
