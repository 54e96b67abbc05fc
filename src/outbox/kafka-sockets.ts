/**
 * The sockets of one kafkajs client, held so that they can be cut.
 *
 * kafkajs has no way to give a client up: its `disconnect` waits for the answers that are being
 * given up on, and a send in its retry loop connects anew afterwards. Cutting the sockets and
 * refusing new ones makes a discarded client harmless at once, and lets the process end.
 */

import { readFileSync } from 'node:fs'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory } from 'kafkajs'

/**
 * Finds a peer that vanished without a word. Load balancers forget a silent connection after some
 * minutes, the shortest ones after one.
 */
const keepAliveMs = 30_000

export interface KafkaSockets {
  readonly socketFactory: ISocketFactory
  /** Connections that are up or coming up. */
  readonly openCount: number
  /** Cuts all and refuses new ones, for good. */
  cut(): void
}

export function createKafkaSockets(tls: { readonly caFile: string | undefined }): KafkaSockets {
  const sockets = new Set<Socket>()
  let refusal: Error | undefined

  const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    if (refusal !== undefined) throw refusal
    // kafkajs's type says that ssl is always there; without TLS it is null or undefined.
    const useTls = Boolean(ssl)
    const socket = useTls
      ? connectTls(
          {
            host,
            port,
            ...(isIP(host) === 0 ? { servername: host } : {}),
            // Read for each connection, so a renewed certificate needs no restart.
            ...(tls.caFile === undefined ? {} : { ca: readFileSync(tls.caFile) }),
          },
          onConnect,
        )
      : connectTcp({ host, port }, onConnect)
    socket.setKeepAlive(true, keepAliveMs)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    return socket
  }

  return {
    socketFactory,
    get openCount() {
      return sockets.size
    },
    cut() {
      refusal = new Error('this Kafka client has been discarded')
      for (const socket of sockets) socket.destroy(refusal)
    },
  }
}
