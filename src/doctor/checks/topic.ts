/** Is the event's topic there, and do its settings keep what the service promises? Pure. */

import type { Config } from '../../config/config.js'
import { failed, skipped, warning, worstOf, type Verdict } from '../finding.js'
import type { TopicLook } from '../kafka-cluster.js'

/** An event and its headers take less than a kilobyte; a batch of many is split where it must be. */
const smallestMessageLimit = 16_384

/** @param name the option that names the topic is told with it */
export function judgeTopic(
  look: TopicLook | undefined,
  { name, option }: { readonly name: string; readonly option: 'OUTBOX_TOPIC' | 'INTAKE_TOPIC' },
  outbox: Config['outbox'],
): Verdict {
  if (look === undefined)
    return failed(
      `${name} is not there, or this user may not see it`,
      `make the topic (it is never made for you), give this user rights, or correct ${option}`,
    )
  const { partitions, settings } = look
  const troubles: Verdict[] = []
  const leaderless = partitions.filter(({ leader }) => leader < 0).length
  if (leaderless > 0)
    troubles.push(
      failed(
        `${leaderless} of ${partitions.length} partitions have no leader`,
        'start the brokers',
      ),
    )
  if (option === 'OUTBOX_TOPIC') troubles.push(...writingTroubles(look, outbox))
  if (settings === undefined && troubles.length === 0)
    return skipped(`${name} is there; its settings are not this user's to read (DescribeConfigs)`)
  const copies = Math.min(...partitions.map(({ replicas }) => replicas.length))
  return worstOf(
    troubles,
    `${name}: partitions ${partitions.length}, copies ${copies}, in-sync at least ` +
      (settings?.get('min.insync.replicas') ?? 'unknown'),
  )
}

/** The relay waits for all in-sync replicas, and writes the event's own time. */
function writingTroubles({ partitions, settings }: TopicLook, outbox: Config['outbox']): Verdict[] {
  const number = (name: string): number => Number(settings?.get(name) ?? Number.NaN)
  const inSyncAtLeast = number('min.insync.replicas')
  const copies = Math.min(...partitions.map(({ replicas }) => replicas.length))
  const short = partitions.filter(({ inSync }) => inSync.length < inSyncAtLeast).length
  const oldestMs = Math.min(
    ...['message.timestamp.before.max.ms', 'message.timestamp.difference.max.ms']
      .map(number)
      .filter((ms) => !Number.isNaN(ms)),
  )
  const troubles: (Verdict | false)[] = [
    copies < inSyncAtLeast &&
      failed(
        `min.insync.replicas ${inSyncAtLeast} is more than the ${copies} copies there are`,
        'raise the replication factor or lower min.insync.replicas: nothing can be written',
      ),
    copies >= inSyncAtLeast &&
      short > 0 &&
      failed(
        `${short} partitions have fewer in-sync replicas than min.insync.replicas`,
        'bring the missing brokers back: nothing can be written there',
      ),
    copies === 1 &&
      warning('each partition has one copy only', 'use a replication factor of 3 in production'),
    copies > 1 &&
      inSyncAtLeast === 1 &&
      warning(
        'min.insync.replicas is 1, so an acknowledged event may be on one broker only',
        'set min.insync.replicas to 2',
      ),
    number('max.message.bytes') < smallestMessageLimit &&
      failed(
        `max.message.bytes is ${number('max.message.bytes')}`,
        `set max.message.bytes to ${smallestMessageLimit} or more: events may be refused`,
      ),
    settings?.get('message.timestamp.type') === 'LogAppendTime' &&
      warning(
        'message.timestamp.type is LogAppendTime, so records lose the time of the event',
        'set message.timestamp.type to CreateTime',
      ),
    oldestMs < outbox.retentionMs &&
      warning(
        `the topic refuses records older than ${Math.round(oldestMs / 60_000)} minutes`,
        'raise message.timestamp.before.max.ms: an event may wait that long in an outage',
      ),
  ]
  return troubles.filter((trouble) => trouble !== false)
}
