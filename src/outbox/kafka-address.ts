/** How a kafkajs client finds the brokers and is let in: the same for whoever talks to them. */

import type { KafkaConfig, SASLOptions } from 'kafkajs'
import type { KafkaOptions } from '../config/config.js'

/** Goes with the sockets of kafka-sockets.ts, which know the authority's certificate. */
export function kafkaAddress(
  kafka: Omit<KafkaOptions, 'clientId'>,
): Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'> {
  return {
    brokers: [...kafka.brokers],
    // An empty object asks for TLS; the socket factory fills in the rest at each connect.
    ...(kafka.ssl ? { ssl: {} } : {}),
    ...(kafka.sasl === undefined ? {} : { sasl: kafka.sasl as SASLOptions }),
  }
}
