/**
 * A client that is given back and asked for again in the same turn of the event loop, as by a lane that
 * goes from row to row, doesn't go through the pool: with its timers and listeners that takes the
 * process a good part of what a short statement takes.
 */

import type pg from 'pg'

export interface WarmClients {
  /** One that was given back in this turn, or the pool's next. */
  take(): pg.PoolClient | Promise<pg.PoolClient>
  /** @param error where it must not be used again */
  giveBack(client: pg.PoolClient, error: Error | undefined): void
}

/** @param isLost whether its connection has ended, which may show in the very turn of its last answer */
export function createWarmClients(
  pool: Pick<pg.Pool, 'connect' | 'waitingCount'>,
  isLost: (client: pg.PoolClient) => boolean,
): WarmClients {
  const warm: pg.PoolClient[] = []
  let cooling = false
  const cool = (): void => {
    cooling = false
    for (const client of warm.splice(0)) client.release()
  }
  return {
    take() {
      for (let client = warm.pop(); client !== undefined; client = warm.pop()) {
        if (!isLost(client)) return client
        client.release(new Error('its connection has ended'))
      }
      return pool.connect()
    },
    giveBack(client, error) {
      if (warm.includes(client)) throw new Error('The client has been given back already')
      // Who waits for a client comes before who may ask for one.
      if (error !== undefined || pool.waitingCount > 0) {
        client.release(error)
        return
      }
      warm.push(client)
      if (!cooling) setImmediate(cool)
      cooling = true
    },
  }
}
