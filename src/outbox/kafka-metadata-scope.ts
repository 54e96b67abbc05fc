/**
 * Keeps a producer's eyes on its own topic.
 *
 * When an idempotent producer connects, kafkajs 2.2.4 asks for the metadata of every topic of the
 * cluster, and takes one partition without a leader, whosever it is, for its own failure. Seen: in a
 * rolling restart of three brokers beside a topic without replicas, no producer could connect from
 * the first broker's stop to the last one's start. kafkajs asks for the topics that its cluster
 * object already knows of, so it is told before it connects.
 */

import type { Kafka } from 'kafkajs'

interface Cluster {
  readonly targetTopics?: Set<string>
}

/** Every cluster object that this client makes from now on starts with the topic given. */
export function limitMetadataTo(kafka: Kafka, topic: string): void {
  const internals = kafka as unknown as Record<symbol, ((options: object) => Cluster) | undefined>
  const name = Object.getOwnPropertySymbols(internals).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  const create = name === undefined ? undefined : internals[name]
  // A kafkajs built otherwise is left as it is: it works, but for its neighbours' troubles.
  if (name === undefined || create === undefined) return
  internals[name] = (options) => {
    const cluster = create(options)
    cluster.targetTopics?.add(topic)
    return cluster
  }
}
