/**
 * What came in and is no HTTP, is too large for it, or never arrived whole: answered on the bare socket,
 * in the form that all errors have.
 */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { problem } from './problem-of-error.js'
import type { Problem } from './problem.js'

const problems: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: problem(
    408,
    'The request did not arrive whole in time. Send it again.',
  ),
  HPE_HEADER_OVERFLOW: problem(431, 'The headers are too large: send fewer or shorter ones.'),
}

/** Node's parser tells what it met by a code; all others are 400. */
export function refuseUnreadable(error: { readonly code?: string }, socket: Socket): void {
  // Nobody is there to read an answer.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const found = problems[error.code ?? ''] ?? problem(400, 'This is no HTTP request.')
  const body = JSON.stringify({ type: 'about:blank', ...found })
  const head = [
    `HTTP/1.1 ${found.status} ${STATUS_CODES[found.status] ?? ''}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}
