/** A broker that lets in only who can prove who they are, and lets them do only what they may. */

import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ResourcePatternTypes,
} from 'kafkajs'
import type { KafkaOptions } from '../../src/config/config.js'
import { findFreePorts } from '../../src/demo/servers/free-port.js'
import type { KafkaNode } from '../../src/demo/servers/kafka-node.js'
import { startLocalKafka } from '../../src/demo/servers/local-kafka.js'
import { makeTemporaryFolder } from '../../src/demo/servers/server-cache.js'
import { kafkaClient } from './kafka.js'
import { makeCertificates } from './test-certificates.js'

/** May do what it is given rights for, and nothing else. */
export const relayUser = { username: 'relay', password: 'correct horse' }

const keystorePassword = 'no secret to anyone'

export type Listener = 'tls' | 'saslTls' | 'sasl'

export interface SecuredKafka {
  /** As the administrator reaches it, who may do anything. */
  readonly brokers: string[]
  /** How a client gets in by this listener, as its options say it. */
  readonly access: (by: Listener, sasl?: KafkaOptions['sasl']) => KafkaOptions
  /** The file that `access` names; a test may change or remove it under a running client. */
  readonly caFile: string
  /** The authority of the broker's certificate, as things are now. */
  readonly brokersCaFile: () => string
  /** An authority that has signed nothing of the broker's. */
  readonly strangersCaFile: string
  readonly allow: (
    user: { readonly username: string },
    right: 'WRITE' | 'DESCRIBE',
    topic: string,
  ) => Promise<void>
  /** Stops the broker and starts it with a certificate by a new authority. */
  readonly restartWithNewCertificate: () => Promise<void>
  readonly stop: () => Promise<void>
}

export async function startSecuredKafka(): Promise<SecuredKafka> {
  const folder = await makeTemporaryFolder('secured-kafka-')
  let certificates = await makeCertificates(folder, keystorePassword)
  const stranger = await makeCertificates(folder, keystorePassword)
  const caFile = join(folder, 'ca.pem')
  const keystore = join(folder, 'broker.p12')
  await copyFile(certificates.caFile, caFile)
  await copyFile(certificates.keystore, keystore)
  const [tls, saslTls, sasl] = (await findFreePorts(3)) as [number, number, number]
  const ports = { tls, saslTls, sasl }
  const kafka = await startLocalKafka({
    extras: {
      listeners: {
        TLS: { port: tls, protocol: 'SSL' },
        SASLTLS: { port: saslTls, protocol: 'SASL_SSL' },
        SASL: { port: sasl, protocol: 'SASL_PLAINTEXT' },
      },
      settings: {
        'ssl.keystore.type': 'PKCS12',
        'ssl.keystore.location': keystore,
        'ssl.keystore.password': keystorePassword,
        'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        ...logins('sasl'),
        ...logins('sasltls'),
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        // Whoever comes by the plain listener: the broker to itself, and the test that arranges.
        'super.users': 'User:ANONYMOUS',
      },
      formatOptions: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
        '--add-scram',
        `${mechanism}=[name=${relayUser.username},password=${relayUser.password}]`,
      ]),
    },
  })
  const node = kafka.nodes[0] as KafkaNode
  return {
    brokers: kafka.brokers,
    caFile,
    access: (by, credentials) => ({
      brokers: [`127.0.0.1:${ports[by]}`],
      clientId: 'under-test',
      ssl: by !== 'sasl',
      sslCaFile: by === 'sasl' ? undefined : caFile,
      sasl: credentials,
    }),
    brokersCaFile: () => certificates.caFile,
    strangersCaFile: stranger.caFile,
    allow: (user, right, topic) => allow(kafka.brokers, user.username, right, topic),
    restartWithNewCertificate: async () => {
      certificates = await makeCertificates(folder, keystorePassword)
      await node.stop()
      await copyFile(certificates.keystore, keystore)
      await node.start()
    },
    stop: async () => {
      await kafka.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** How the user is known at a listener: for PLAIN by this text, for SCRAM by the cluster's metadata. */
function logins(listener: string): Record<string, string> {
  const { username, password } = relayUser
  const modules = 'org.apache.kafka.common.security'
  const scram = `${modules}.scram.ScramLoginModule required;`
  const setting = (mechanism: string): string =>
    `listener.name.${listener}.${mechanism}.sasl.jaas.config`
  return {
    [setting('plain')]:
      `${modules}.plain.PlainLoginModule required user_${username}="${password}";`,
    [setting('scram-sha-256')]: scram,
    [setting('scram-sha-512')]: scram,
  }
}

async function allow(
  brokers: readonly string[],
  user: string,
  right: 'WRITE' | 'DESCRIBE',
  topic: string,
): Promise<void> {
  const admin = (await kafkaClient(brokers)).admin()
  await admin.connect()
  try {
    await admin.createAcls({
      acl: [
        {
          resourceType: AclResourceTypes.TOPIC,
          resourceName: topic,
          resourcePatternType: ResourcePatternTypes.LITERAL,
          principal: `User:${user}`,
          host: '*',
          operation: AclOperationTypes[right],
          permissionType: AclPermissionTypes.ALLOW,
        },
      ],
    })
  } finally {
    await admin.disconnect()
  }
}
