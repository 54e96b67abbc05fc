/** Messages wait while the database can't take them: none is lost, none is skipped, none is parked. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dealState, readyDeal } from '../support/deals.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { dealCreated, rawMessage, useTestHandlers } from './intake-fixtures.js'

const database = useTestDatabase()
const newHandler = useTestHandlers(database)

const ready = { ...readyDeal, attempts: 0 }

async function rows(text: string): Promise<unknown[]> {
  return database().query(text)
}

describe('an outage', () => {
  let proxy: TcpProxy
  const stop = new AbortController()

  beforeEach(async () => {
    proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
  })
  afterEach(() => proxy.stop())

  function proxied(): string {
    const url = new URL(database().url)
    url.port = String(proxy.port)
    return url.href
  }

  it('is waited out, in one line of the log, and the message is done after it', async () => {
    proxy.cut()
    const handler = newHandler({ url: proxied() })
    const message = dealCreated()
    const taking = Promise.all([message, rawMessage('nonsense')].map((each) => handler.take(each)))
    await waitFor('several tries of both', () => handler.counted.tries >= 6)
    expect(handler.failure).toBeDefined()
    proxy.resume()

    expect(await taking).toEqual([true, true])
    expect(await dealState(database().admin, message.dealId)).toMatchObject(ready)
    expect(await rows('select error from messenger.intake_parked')).toEqual([{ error: 'NOT_JSON' }])
    const said = handler.lines.map((line) => line['event'])
    expect(said.filter((event) => event === 'intake waits for the database').length).toBeLessThan(3)
    expect(said.filter((event) => event === 'intake flows again')).toHaveLength(1)
    expect(handler.failure).toBeUndefined()
  })

  it('ends at once where the intake is stopped, and nothing has been written', async () => {
    proxy.cut()
    const handler = newHandler({ url: proxied() })
    const taking = handler.handle(dealCreated(), stop.signal)
    await waitFor('a try', () => handler.failure !== undefined)
    stop.abort()
    expect(await taking).toBe(false)
    expect(await rows('select id from messenger.deal_chat_provisions')).toEqual([])
  })

  it('of rights is waited out too: nothing is parked that a person can mend', async () => {
    const role = 'chat_provision_retry'
    await rows(`revoke insert on messenger.deal_chat_provisions from ${role}`)
    const handler = newHandler()
    const message = dealCreated()
    const taking = handler.take(message)
    await waitFor('a second try', () => handler.counted.tries >= 2)
    expect(handler.failure).toBe('42501')
    await rows(`grant insert on messenger.deal_chat_provisions to ${role}`)
    expect(await taking).toBe(true)
    expect(await dealState(database().admin, message.dealId)).toMatchObject(ready)
    expect(await rows('select id from messenger.intake_parked')).toEqual([])
  })
})
