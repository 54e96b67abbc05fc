/** What went wrong, in place: the frame stays, and the page comes back by itself where it can. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../../problem.js'
import { sendPage } from '../send-page.js'

export async function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, title, detail, reasons = [] }: Problem,
): Promise<FastifyReply> {
  const comesBack = status === 503 && request.method === 'GET'
  return sendPage(
    request,
    reply,
    { status, title, section: undefined, ...(comesBack && { watch: everything }) },
    <section class="problem">
      <h1 safe>{title}</h1>
      {detail !== undefined && <p safe>{detail}</p>}
      {reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li safe>{reason}</li>
          ))}
        </ul>
      )}
      {comesBack && <p>This page is shown as soon as it can be.</p>}
      <p>
        <a href="/deck">To the overview</a>
      </p>
    </section>,
  )
}

const everything = ['provisions', 'outbox', 'jobs', 'queues', 'runs'] as const
