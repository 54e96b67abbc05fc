/** The local Kafka of the demo and the tests: topics, restart, crash, freeze, several nodes. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLocalKafka, type LocalKafka } from '../../src/demo/servers/local-kafka.js'
import { createTopic, describeWithKafka, kafkaClient, readTopic } from '../support/kafka.js'
import { waitFor } from '../support/wait-for.js'

async function produce(topic: string, key: string, value: string, brokers?: string[]) {
  const producer = (await kafkaClient(brokers)).producer()
  await producer.connect()
  try {
    await producer.send({
      topic,
      acks: -1,
      messages: [{ key, value, headers: { 'content-type': 'text/plain' }, timestamp: '1000' }],
    })
  } finally {
    await producer.disconnect()
  }
}

describeWithKafka("the run's broker", () => {
  test('gives back what was sent, from the beginning to the end offsets', async () => {
    const topic = await createTopic({ partitions: 3 })
    expect(await readTopic(topic)).toEqual([])
    await produce(topic, 'a', 'first')
    await produce(topic, 'a', 'second')
    const [first, second, ...others] = await readTopic(topic)
    expect(others).toEqual([])
    expect(first).toEqual({
      partition: second?.partition,
      offset: '0',
      key: 'a',
      value: Buffer.from('first'),
      headers: { 'content-type': 'text/plain' },
      timestamp: '1000',
    })
    expect(second?.offset).toBe('1')
  })

  test('makes no topic that was only asked for', async () => {
    const kafka = await kafkaClient()
    const producer = kafka.producer({ allowAutoTopicCreation: true, retry: { retries: 0 } })
    await producer.connect()
    await expect(
      producer.send({ topic: 'never.created', messages: [{ value: 'lost' }] }),
    ).rejects.toThrow('does not host this topic-partition')
    await producer.disconnect()
    const admin = kafka.admin()
    await admin.connect()
    expect(await admin.listTopics()).not.toContain('never.created')
    await admin.disconnect()
  })
})

/** Three JVMs, each started and then crashed, on two busy cores. */
const clusterTimeoutMs = 180_000

describeWithKafka('a cluster of three', () => {
  let cluster: LocalKafka

  beforeAll(async () => {
    cluster = await startLocalKafka({ nodes: 3 })
  }, clusterTimeoutMs)
  afterAll(() => cluster.stop())

  test(
    'serves while one node is dead, and takes it back on its port and log',
    async () => {
      const topic = await createTopic({ brokers: cluster.brokers })
      await produce(topic, 'a', 'before', cluster.brokers)
      const leader = await leaderOf(topic)
      const before = leader.pid
      await leader.kill()
      await waitFor('another leader', async () => (await leaderOf(topic)).id !== leader.id)
      await produce(topic, 'a', 'meanwhile', cluster.brokers)
      await leader.start()
      expect(leader.pid).not.toBe(before)
      const values = (await readTopic(topic, [leader.broker])).map(({ value }) => String(value))
      expect(values).toEqual(['before', 'meanwhile'])
    },
    clusterTimeoutMs,
  )

  async function leaderOf(topic: string) {
    const alive = cluster.nodes.filter((node) => isRunning(node)).map((node) => node.broker)
    const admin = (await kafkaClient(alive)).admin()
    await admin.connect()
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
      const leader = topics[0]?.partitions[0]?.leader
      const node = cluster.nodes.find(({ id }) => id === leader)
      if (node === undefined) throw new Error('there is no leader')
      return node
    } finally {
      await admin.disconnect()
    }
  }
})

function isRunning(node: { pid: number }): boolean {
  try {
    return node.pid > 0
  } catch {
    return false
  }
}
