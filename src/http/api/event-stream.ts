/**
 * Server-sent events for open pages: `event: provisions` says that provisions have changed, no more;
 * whoever shows them reads anew, and once when the stream opens. Events of one resource in quick succession are sent as one.
 */

import { Readable } from 'node:stream'
import { z } from 'zod'
import { problem } from '../problem-of-error.js'
import { sendProblem } from '../problem.js'
import { resources, type Resource } from './change-marks.js'
import { createChangeWatch, type ChangeWatch } from './change-watch.js'
import type { ApiContext, ApiServer } from './context.js'
import { createRateKey } from './rate-key.js'
import { routeSchema } from './route-schema.js'

/** Each is an open connection; a team has fewer pages open, and one of them no more than a few in view. */
const clientsAtMost = 50
const ofOneAtMost = 10
/** Below the minute after which proxies take a silent connection for dead. */
const heartbeatMs = 15_000
/** A burst of jobs is one change to a page. */
const gatherMs = 250
/** What a client is behind at most before it is let go: it comes back by itself and reads anew. */
const backlogBytes = 64 * 1024

export function addEventStream(app: ApiServer, context: ApiContext): void {
  const { db, jobs, log, config, sessions } = context
  const keyOf = createRateKey(config.deck, sessions)
  const watch = createChangeWatch({ db, events: jobs.events, log })
  const clients = new Set<Client>()
  // Before the server waits for requests under way, of which these would never end.
  app.addHook('preClose', (done) => {
    for (const client of clients) client.end()
    done()
  })
  app.get(
    '/events',
    {
      exposeHeadRoute: false,
      config: { timeoutMs: Number.POSITIVE_INFINITY },
      schema: routeSchema({
        id: 'streamEvents',
        tag: 'overview',
        summary: 'What changes, as it changes',
        description:
          `Server-sent events, named ${resources.join(', ')}: that resource has changed. A stream begins with all of them. ` +
          'The data is an empty object. A comment every 15 seconds keeps the connection open.',
        answers: {
          200: { about: 'A stream that goes on.', type: 'text/event-stream', schema: z.string() },
        },
      }),
    },
    (request, reply) => {
      if (clients.size >= clientsAtMost) {
        void reply.header('retry-after', '10')
        const detail = `${clientsAtMost} streams are open, which is all there are. Close a page.`
        return sendProblem(reply, problem(503, detail))
      }
      const key = keyOf(request)
      const own = [...clients].filter((client) => client.key === key)
      if (own.length >= ofOneAtMost) {
        void reply.header('retry-after', '10')
        const detail = `You have ${ofOneAtMost} streams open, so that others have some. Close a page.`
        return sendProblem(reply, problem(429, detail))
      }
      const client = openClient(key, watch, () => clients.delete(client))
      clients.add(client)
      request.raw.once('close', () => client.end())
      return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(client.stream)
    },
  )
}

interface Client {
  /** Whose it is. */
  readonly key: string
  readonly stream: Readable
  readonly end: () => void
}

function openClient(key: string, watch: ChangeWatch, onEnd: () => void): Client {
  const stream = new Readable({ read: () => undefined })
  const gathered = new Set<Resource>()
  let gathering: NodeJS.Timeout | undefined

  const write = (text: string): void => {
    if (stream.readableLength > backlogBytes) end()
    else stream.push(text)
  }
  const flush = (): void => {
    gathering = undefined
    write([...gathered].map((name) => `event: ${name}\ndata: {}\n\n`).join(''))
    gathered.clear()
  }
  const unsubscribe = watch.subscribe((resource) => {
    gathered.add(resource)
    gathering ??= setTimeout(flush, gatherMs)
  })
  const heartbeat = setInterval(() => write(': still here\n\n'), heartbeatMs)
  let ended = false
  const end = (): void => {
    if (ended) return
    ended = true
    unsubscribe()
    clearInterval(heartbeat)
    clearTimeout(gathering)
    stream.push(null)
    onEnd()
  }
  stream.once('close', end)
  // Headers go out with the first bytes: the client is to know at once that it is connected.
  write('retry: 3000\n\n')
  return { key, stream, end }
}
