/** What every publisher promises behind the port, and what each adds. */

import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { ClosablePublisher, OutgoingMessage } from '../../../src/outbox/publisher.js'
import { StdoutPublisher } from '../../../src/outbox/stdout-publisher.js'
import { createTopic, describeWithKafka, kafkaBrokers, readTopic } from '../../support/kafka.js'
import { waitFor } from '../../support/wait-for.js'
import { createTestKafkaPublisher } from './relay-fixtures.js'

interface Carried {
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}

/** A publisher, a topic that it can reach, and what has arrived there. */
interface Subject {
  readonly publisher: ClosablePublisher
  readonly topic: string
  readonly arrived: () => Promise<Carried[]>
}

const never = new AbortController().signal

function message(key: string, value = '{"n":1}'): OutgoingMessage {
  return {
    key,
    value,
    headers: { ce_id: key, 'content-type': 'application/json' },
    timestampMs: 1_700_000_000_123,
  }
}

/** Takes connections and says nothing, as a frozen broker does. */
async function startSilentServer(): Promise<{
  server: Server
  address: string
  stop: () => Promise<unknown>
}> {
  const server = createServer((socket) => socket.resume().on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = (): Promise<unknown> => {
    const closed = once(server, 'close')
    server.close()
    return closed
  }
  return { server, address: `127.0.0.1:${port}`, stop }
}

function conforms(setUp: () => Promise<Subject>): void {
  test('carries key, value and headers unchanged, in order per key', async () => {
    const { publisher, topic, arrived } = await setUp()
    const values = ['{"n":1}', '{"a": "é ☃ 𝄞","b":1.0}', '']
    const sent = values.map((value) => message('one', value))
    expect(await publisher.publish(topic, sent.slice(0, 2), never)).toEqual({ kind: 'published' })
    expect(await publisher.publish(topic, sent.slice(2), never)).toEqual({ kind: 'published' })
    expect(await arrived()).toEqual(
      values.map((value) => ({ key: 'one', value, headers: message('one').headers })),
    )
  })

  test('answers to an empty batch, and sends nothing', async () => {
    const { publisher, topic, arrived } = await setUp()
    expect(await publisher.publish(topic, [], never)).toEqual({ kind: 'published' })
    expect(await arrived()).toEqual([])
  })

  test('sends nothing once the caller has given up, or it is closed; bears being closed twice', async () => {
    const { publisher, topic, arrived } = await setUp()
    const given = await publisher.publish(topic, [message('a')], AbortSignal.abort())
    expect(given).toEqual({ kind: 'abandoned' })
    await publisher.close()
    await publisher.close()
    expect(await publisher.publish(topic, [message('a')], never)).toEqual({ kind: 'abandoned' })
    expect(await arrived()).toEqual([])
  })
}

describeWithKafka('the Kafka publisher', () => {
  conforms(async () => {
    const topic = await createTopic({ partitions: 3 })
    const arrived = async (): Promise<Carried[]> =>
      (await readTopic(topic)).map(({ key, value, headers }) => ({
        key: String(key),
        value: String(value),
        headers,
      }))
    return { publisher: createTestKafkaPublisher(await kafkaBrokers()), topic, arrived }
  })

  test('gives the record the event’s time', async () => {
    const topic = await createTopic()
    const publisher = createTestKafkaPublisher(await kafkaBrokers())
    await publisher.publish(topic, [message('a')], never)
    expect((await readTopic(topic)).map((record) => record.timestamp)).toEqual(['1700000000123'])
  })

  test('tells a missing topic from a message that is too large, and works on after both', async () => {
    const topic = await createTopic({ config: { 'max.message.bytes': '1000' } })
    const publisher = createTestKafkaPublisher(await kafkaBrokers())
    expect(await publisher.publish('test.missing', [message('a')], never)).toMatchObject({
      kind: 'unavailable',
      scope: 'topic',
      reason: expect.stringContaining('UNKNOWN_TOPIC_OR_PARTITION') as string,
    })
    const large = message('a', 'x'.repeat(2_000))
    expect(await publisher.publish(topic, [large], never)).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('MESSAGE_TOO_LARGE') as string,
    })
    expect(await publisher.publish(topic, [message('a')], never)).toEqual({ kind: 'published' })
    expect(await readTopic(topic)).toHaveLength(1)
  })

  test('answers in time when nobody answers, and when nobody listens', async () => {
    const silent = await startSilentServer()
    const deaf = createTestKafkaPublisher([silent.address], { sendTimeoutMs: 500 })
    const barred = { kind: 'unavailable', scope: 'transport' }
    expect(await deaf.publish('any', [message('a')], never)).toMatchObject(barred)
    await silent.stop()
    expect(await deaf.publish('any', [message('a')], never)).toMatchObject(barred)
  })

  test('gives the wait up at once when told to', async () => {
    const silent = await startSilentServer()
    const publisher = createTestKafkaPublisher([silent.address], { sendTimeoutMs: 20_000 })
    const giveUp = new AbortController()
    silent.server.once('connection', () => giveUp.abort())
    const outcome = await publisher.publish('any', [message('a')], giveUp.signal)
    expect(outcome).toEqual({ kind: 'abandoned' })
    await silent.stop()
  })
})

describe('the stdout publisher', () => {
  conforms(() => {
    const stream = new PassThrough()
    const arrived = (): Promise<Carried[]> => {
      let text = ''
      // Newer Nodes give one write at a time.
      while (stream.readableLength > 0) text += String(stream.read())
      const lines = text.split('\n').filter((line) => line !== '')
      return Promise.resolve(
        lines.map((line) => {
          const { key, value, headers } = JSON.parse(line) as Carried
          return { key, value, headers }
        }),
      )
    }
    return Promise.resolve({ publisher: new StdoutPublisher(stream), topic: 'any', arrived })
  })

  test('writes one line each, of topic, key, headers and value', async () => {
    const stream = new PassThrough()
    await new StdoutPublisher(stream).publish('a.topic', [message('k'), message('l')], never)
    expect(String(stream.read()).split('\n')).toEqual([
      '{"topic":"a.topic","key":"k","headers":{"ce_id":"k","content-type":"application/json"},"value":"{\\"n\\":1}"}',
      '{"topic":"a.topic","key":"l","headers":{"ce_id":"l","content-type":"application/json"},"value":"{\\"n\\":1}"}',
      '',
    ])
  })

  test('waits for a slow reader', async () => {
    const waiting: (() => void)[] = []
    const slow = new Writable({ write: (_chunk, _encoding, done) => waiting.push(done) })
    let answered = false
    const answer = new StdoutPublisher(slow).publish('any', [message('a')], never).then(() => {
      answered = true
    })
    await waitFor('the write', () => waiting.length === 1)
    expect(answered).toBe(false)
    waiting[0]?.()
    await answer
  })

  test('piles nothing up before a reader that stands still', async () => {
    const waiting: (() => void)[] = []
    const chunks: string[] = []
    const stuck = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        chunks.push(chunk.toString())
        waiting.push(done)
      },
    })
    const publisher = new StdoutPublisher(stuck)
    const giveUp = new AbortController()
    const first = publisher.publish('any', [message('a')], giveUp.signal)
    await waitFor('the first write', () => waiting.length === 1)
    giveUp.abort()
    expect(await first).toEqual({ kind: 'abandoned' })
    const patience = AbortSignal.timeout(50)
    expect(await publisher.publish('any', [message('b')], patience)).toEqual({ kind: 'abandoned' })
    const last = publisher.publish('any', [message('c')], never)
    waiting[0]?.()
    await waitFor('the last write', () => waiting.length === 2)
    waiting[1]?.()
    expect(await last).toEqual({ kind: 'published' })
    expect(chunks.map((chunk) => (JSON.parse(chunk) as Carried).key)).toEqual(['a', 'c'])
  })

  test('says so when the reader has gone', async () => {
    const gone = new Writable({
      write: (_chunk, _encoding, done) => done(new Error('write EPIPE')),
    })
    const publisher = new StdoutPublisher(gone)
    const barred = {
      kind: 'unavailable',
      scope: 'transport',
      reason: 'standard output: write EPIPE',
    }
    expect(await publisher.publish('any', [message('a')], never)).toEqual(barred)
    expect(await publisher.publish('any', [message('a')], never)).toEqual(barred)
  })
})
