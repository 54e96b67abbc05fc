/** The checks that ask Kafka, where the options say that something talks to it. */

import type { Config } from '../config/config.js'
import { judgeTopic } from './checks/topic.js'
import { examine } from './examine.js'
import { failed, ok, skipped, type Finding, type Verdict } from './finding.js'
import { withCluster } from './kafka-cluster.js'

export async function examineKafka(config: Config): Promise<Finding[]> {
  const { kafka, outbox, intake } = config
  const topics = [
    ...(outbox.relay === 'kafka'
      ? [{ check: 'topic', name: outbox.topic, option: 'OUTBOX_TOPIC' as const }]
      : []),
    ...(intake.enabled
      ? [{ check: 'intake topic', name: intake.topic, option: 'INTAKE_TOPIC' as const }]
      : []),
  ]
  if (topics.length === 0) {
    return [{ check: 'broker', ...skipped(`OUTBOX_RELAY=${outbox.relay}: not talked to`) }]
  }
  const broker = await examine('broker', (signal) => lookAtBrokers(config, signal))
  const findings = [broker]
  for (const { check, name, option } of topics) {
    findings.push(
      broker.status === 'ok'
        ? await examine(check, async (signal) => {
            const look = await withCluster(kafka, signal, (cluster) => cluster.topic(name))
            return judgeTopic(look, { name, option }, outbox)
          })
        : { check, ...skipped('Kafka can not be asked: see broker') },
    )
  }
  return findings
}

async function lookAtBrokers({ kafka }: Config, signal: AbortSignal): Promise<Verdict> {
  try {
    const ids = await withCluster(kafka, signal, (cluster) => cluster.brokers())
    return ok(`${ids.length === 1 ? 'one broker' : `${ids.length} brokers`} up`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return failed(
      `${kafka.brokers.join(', ')}: ${reason}`,
      'check that it runs and that KAFKA_BROKERS, KAFKA_SSL and KAFKA_SASL_… fit it',
    )
  }
}
