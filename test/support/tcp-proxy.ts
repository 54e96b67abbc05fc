/** A TCP proxy before any server, whose answers can be withheld, slowed or cut off at will. */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'

export interface TcpProxy {
  /** Give this to clients instead of the server's. */
  readonly port: number
  /** What clients send no longer arrives; it is kept until resume(). */
  pauseRequests(): void
  /** What the server answers no longer arrives; it is kept until resume(). */
  pauseResponses(): void
  /** Holds back each piece of an answer for so long: a slow network. */
  delayResponses(ms: number): void
  /** Ends every connection now; new ones are served. */
  dropConnections(): void
  /** Ends every connection, and each new one as soon as it is made, until resume(). */
  cut(): void
  /** Takes back all of the above. */
  resume(): void
  /** How many connections are open through the proxy. */
  connections(): number
  /** How many connections were ended at once because it was cut. */
  refused(): number
  stop(): Promise<void>
}

export async function startTcpProxy({ target }: { target: number }): Promise<TcpProxy> {
  const requests = new Direction()
  const responses = new Direction()
  const open = new Set<Socket>()
  let isCut = false
  let refused = 0
  const drop = (): void => open.forEach((socket) => socket.destroy())
  const server = createServer((client) => {
    if (isCut) {
      refused += 1
      client.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    open.add(client)
    const end = (): void => {
      open.delete(client)
      client.destroy()
      upstream.destroy()
    }
    client.once('close', end)
    // Either side may vanish at any time; then the other one is dropped as well.
    void Promise.all([
      pipeline(client, (source: Socket) => requests.pass(source), upstream),
      pipeline(upstream, (source: Socket) => responses.pass(source), client),
    ]).then(end, end)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    pauseRequests: () => requests.pause(),
    pauseResponses: () => responses.pause(),
    delayResponses: (ms) => responses.delay(ms),
    dropConnections: drop,
    cut: () => {
      isCut = true
      drop()
    },
    resume: () => {
      isCut = false
      requests.resume()
      responses.resume()
    },
    connections: () => open.size,
    refused: () => refused,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      drop()
      requests.resume()
      responses.resume()
      await closed
    },
  }
}

/** One way through the proxy: what passes it waits while it is paused. */
class Direction {
  #delayMs = 0
  #resumed = Promise.resolve()
  #resume: (() => void) | undefined

  async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      await this.#resumed
      if (this.#delayMs > 0) await delay(this.#delayMs)
      yield piece
    }
  }

  pause(): void {
    if (this.#resume !== undefined) return
    this.#resumed = new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  delay(ms: number): void {
    this.#delayMs = ms
  }

  resume(): void {
    this.#delayMs = 0
    this.#resume?.()
    this.#resume = undefined
  }
}
