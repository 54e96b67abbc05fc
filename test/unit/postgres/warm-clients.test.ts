/** Clients that go from hand to hand within a turn of the event loop, and those that must not. */

import { setImmediate as endOfTurn } from 'node:timers/promises'
import type pg from 'pg'
import { beforeEach, expect, it } from 'vitest'
import { createWarmClients, type WarmClients } from '../../../src/postgres/warm-clients.js'

let released: [client: string, error: Error | undefined][]
let connects: number
let waitingCount: number
let lost: Set<pg.PoolClient>
let clients: WarmClients

beforeEach(() => {
  released = []
  connects = 0
  waitingCount = 0
  lost = new Set()
  const connect = (): Promise<pg.PoolClient> => {
    connects += 1
    const name = `client ${String(connects)}`
    const release = (error?: Error): void => void released.push([name, error])
    return Promise.resolve({ release } as unknown as pg.PoolClient)
  }
  const pool = {
    connect: connect as pg.Pool['connect'],
    get waitingCount() {
      return waitingCount
    },
  }
  clients = createWarmClients(pool, (client) => lost.has(client))
})

it('the one given back last is taken again in the same turn, past the pool', async () => {
  const [one, two] = [await clients.take(), await clients.take()]
  clients.giveBack(one, undefined)
  clients.giveBack(two, undefined)
  expect(await clients.take()).toBe(two)
  expect(await clients.take()).toBe(one)
  await endOfTurn()
  expect([connects, released]).toEqual([2, []])
})

it('what nobody asks for is the pool’s again when the turn is over', async () => {
  clients.giveBack(await clients.take(), undefined)
  expect(released).toEqual([])
  await endOfTurn()
  expect(released).toEqual([['client 1', undefined]])
  await clients.take()
  expect(connects).toBe(2)
  clients.giveBack(await clients.take(), undefined)
  await endOfTurn()
  expect(released).toHaveLength(2)
})

it('one that must not be used again is the pool’s at once, with the reason', async () => {
  const error = new Error('the server is read-only now')
  clients.giveBack(await clients.take(), error)
  expect(released).toEqual([['client 1', error]])
  await clients.take()
  expect(connects).toBe(2)
})

it('one whose connection has ended since is the pool’s, and nobody else’s', async () => {
  const client = await clients.take()
  clients.giveBack(client, undefined)
  lost.add(client)
  expect(await clients.take()).not.toBe(client)
  expect(released).toEqual([['client 1', expect.any(Error)]])
})

it('none is given back twice, or two would have it', async () => {
  const client = await clients.take()
  clients.giveBack(client, undefined)
  expect(() => clients.giveBack(client, undefined)).toThrow('given back already')
})

it('who waits for the pool comes before who may ask in this turn', async () => {
  const client = await clients.take()
  waitingCount = 1
  clients.giveBack(client, undefined)
  expect(released).toEqual([['client 1', undefined]])
})
