/** An instance that stands by while another one publishes: whether it is ready to take over. */

import { Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { StdoutPublisher } from '../../../src/outbox/stdout-publisher.js'
import { startTcpProxy } from '../../support/tcp-proxy.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { createTestRelay, type TestRelay } from './relay-fixtures.js'

const database = useTestDatabase()

function startRelay(connectionString: string): TestRelay['relay'] {
  const unread = new Writable({ write: (_chunk, _encoding, done) => done() })
  const publisher = new StdoutPublisher(unread)
  const { relay } = createTestRelay(database(), { topic: 'unread', publisher, connectionString })
  relay.start()
  return relay
}

test('is sound again once the database that it could not reach answers', async () => {
  const { url } = database()
  const proxy = await startTcpProxy({ target: Number(new URL(url).port) })
  onTestFinished(() => proxy.stop())
  const holder = startRelay(url)
  await waitFor('the lock', () => holder.health().role === 'publisher')
  const standby = startRelay(Object.assign(new URL(url), { port: proxy.port }).href)
  await waitFor('the standby', () => standby.health().role === 'standby')
  proxy.cut()
  await waitFor('a look in vain', () => standby.health().databaseFailure !== undefined)
  proxy.resume()
  await waitFor('the standby again', () => standby.health().role === 'standby')
  expect(standby.health().databaseFailure).toBeUndefined()
})
