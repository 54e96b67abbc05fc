/** Answers with a page. */

import type { Children } from '@kitajs/html'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Visitor } from './context.js'
import { takeNotice } from './notice.js'
import { makeVisible } from './visible-text.js'
import { Layout, type LayoutProps } from './parts/layout.js'

export type PageHead = Pick<LayoutProps, 'title' | 'section' | 'watch'> & {
  readonly status?: number
}

export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, ...head }: PageHead,
  content: Children,
): Promise<FastifyReply> {
  const html = await (
    <Layout {...head} visitor={visitorIfAny(request)} notice={takeNotice(request, reply)}>
      {content}
    </Layout>
  )
  return reply.code(status).type('text/html; charset=utf-8').send(makeVisible(html))
}

export function visitorIfAny(request: FastifyRequest): Visitor | undefined {
  return request.getDecorator<Visitor | undefined>('visitor')
}

/** Of a page that nobody gets to without being let in. */
export function visitorOf(request: FastifyRequest): Visitor {
  const visitor = visitorIfAny(request)
  if (visitor === undefined) throw new Error('a page was shown to somebody who was not let in')
  return visitor
}
