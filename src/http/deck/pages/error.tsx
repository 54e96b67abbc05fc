/** What went wrong, in place: the frame stays, and the page comes back by itself where it can. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../../problem.js'
import { Layout } from '../parts/layout.js'
import { setPolicy } from '../policy.js'
import { sendPage } from '../send-page.js'
import { makeVisible } from '../visible-text.js'

export async function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): Promise<FastifyReply> {
  const { status, title } = problem
  const comesBack = status === 503 && request.method === 'GET'
  return sendPage(
    request,
    reply,
    { status, title, section: undefined, ...(comesBack && { watch: everything }) },
    <What {...{ problem, comesBack }} />,
  )
}

/** For an address that no route is asked for: nothing is known of who sent it. */
export async function sendBareErrorPage(
  reply: FastifyReply,
  problem: Problem,
): Promise<FastifyReply> {
  const { status, title } = problem
  setPolicy(reply)
  void reply.headers({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
  const html = await (
    <Layout title={title} section={undefined} visitor={undefined} notice={undefined}>
      <What problem={problem} comesBack={false} />
    </Layout>
  )
  return reply.code(status).type('text/html; charset=utf-8').send(makeVisible(html))
}

const everything = ['provisions', 'outbox', 'jobs', 'queues', 'runs'] as const

function What(props: { readonly problem: Problem; readonly comesBack: boolean }): JSX.Element {
  const { title, detail, reasons = [] } = props.problem
  return (
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
      {props.comesBack && <p>This page is shown as soon as it can be.</p>}
      <p>
        <a href="/deck">To the overview</a>
      </p>
    </section>
  )
}
