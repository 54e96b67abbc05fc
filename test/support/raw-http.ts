/** HTTP byte by byte, for requests that no client library would send. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawConnection {
  readonly socket: Socket
  /** All that has come back so far. */
  readonly seen: () => string
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
}

/** @param address such as http://127.0.0.1:8080 */
export async function openRaw(address: string, text = ''): Promise<RawConnection> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let seen = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (seen += piece))
  // A reset is an end like any other here.
  socket.on('error', () => undefined)
  const closed = once(socket, 'close').then(() => undefined)
  if (text !== '') socket.write(text)
  return { socket, seen: () => seen, closed }
}

/** The whole answer to one request after which the server closes. */
export async function askRaw(address: string, text: string): Promise<string> {
  const { seen, closed } = await openRaw(address, text)
  await closed
  return seen()
}
