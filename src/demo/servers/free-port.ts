/**
 * Finds a TCP port for a server that must be able to come back on the same port.
 *
 * Not port 0: that gives one of the kernel's ephemeral range, and while the server is down any
 * outgoing connection may take it as its source, or connect to itself through it.
 */

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ephemeral ranges of Linux (32768) and macOS (49152), above what is registered much. */
const lowest = 20_000
const highest = 32_000
/** A machine where a hundred ports in a row are taken has another problem. */
const maxTries = 100

export async function findFreePort(): Promise<number> {
  const [port] = await findFreePorts(1)
  return port
}

/** As many different ones. */
export async function findFreePorts(count: 1): Promise<[number]>
export async function findFreePorts(count: number): Promise<number[]>
export async function findFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowest, highest)
    if (await isFree(port)) found.add(port)
    if (found.size === count) return [...found]
  }
  throw new Error(`no free TCP port found between ${lowest} and ${highest}`)
}

export async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
