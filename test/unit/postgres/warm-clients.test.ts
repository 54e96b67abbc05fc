/** Clients that go from hand to hand within a turn of the event loop, and those that must not. */

import { setImmediate as endOfTurn } from 'node:timers/promises'
import type pg from 'pg'
import { beforeEach, expect, it } from 'vitest'
import { createWarmClients, type WarmClients } from '../../../src/postgres/warm-clients.js'

let released: [client: string, error: Error | undefined][]
let connects: number
let waitingCount: number
let clients: WarmClients

beforeEach(() => {
  released = []
  connects = 0
  waitingCount = 0
  const connect = (): Promise<pg.PoolClient> => {
    connects += 1
    const name = `client ${String(connects)}`
    const release = (error?: Error): void => void released.push([name, error])
    return Promise.resolve({ release } as unknown as pg.PoolClient)
  }
  clients = createWarmClients({
    connect: connect as pg.Pool['connect'],
    get waitingCount() {
      return waitingCount
    },
  })
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

it('who waits for the pool comes before who may ask in this turn', async () => {
  const client = await clients.take()
  waitingCount = 1
  clients.giveBack(client, undefined)
  expect(released).toEqual([['client 1', undefined]])
})
