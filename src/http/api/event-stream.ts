/**
 * Server-sent events for open pages: `event: provisions` says that provisions have changed, no more;
 * whoever shows them reads anew, and once when the stream opens. Events of one resource in quick succession are sent as one.
 */

import { Readable } from 'node:stream'
import { z } from 'zod'
import { problem } from '../problem-of-error.js'
import { sessionCookie } from '../session.js'
import { createOverCheck } from '../session-over.js'
import { sendProblem } from '../problem.js'
import { resources, type Resource } from './change-marks.js'
import { createChangeWatch, type ChangeWatch } from './change-watch.js'
import type { ApiContext, ApiServer } from './context.js'
import type { Caller } from './access.js'
import { createRateKey } from './rate-key.js'
import { routeSchema } from './route-schema.js'
import { refuseOneMore, streamsAtMost, type StreamOwner } from './stream-limits.js'

/** A session that has ended, or was logged out on any instance, is told nothing for longer. */
const checkMs = 5_000
/** Below the minute after which proxies take a silent connection for dead. */
const heartbeatMs = 15_000
/** A burst of jobs is one change to a page. */
const gatherMs = 250
/** What a client is behind at most before it is let go: it comes back by itself and reads anew. */
const backlogBytes = 64 * 1024

export function addEventStream(app: ApiServer, context: ApiContext): void {
  const { db, jobs, log, config, sessions, logouts } = context
  const keyOf = createRateKey(config.deck, sessions)
  const watch = createChangeWatch({ db, events: jobs.events, log })
  const clients = new Set<Client>()
  const isOver = createOverCheck({ sessions, logouts })
  let checking: NodeJS.Timeout | undefined

  async function endWhatIsOver(): Promise<void> {
    const cookies = new Set([...clients].flatMap(({ cookie }) => cookie ?? []))
    for (const cookie of cookies) {
      if (!(await isOver(cookie))) continue
      for (const client of clients) if (client.cookie === cookie) client.end()
    }
  }

  /** One look at each session in a while, and none where nobody listens. */
  function checkOn(): void {
    if (checking !== undefined || clients.size === 0) return
    checking = setTimeout(() => {
      void endWhatIsOver().finally(() => {
        checking = undefined
        checkOn()
      })
    }, checkMs)
    checking.unref()
  }

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
      if (clients.size >= streamsAtMost) {
        void reply.header('retry-after', '10')
        const detail = `${streamsAtMost} streams are open, which is all there are. Close a page.`
        return sendProblem(reply, problem(503, detail))
      }
      const { role, session } = request.getDecorator<Caller>('caller')
      const cookie = session && request.cookies[sessionCookie]
      const owner: StreamOwner = { key: keyOf(request), role, address: request.ip, cookie }
      const refusal = refuseOneMore(owner, [...clients])
      if (refusal !== undefined) {
        void reply.header('retry-after', '10')
        return sendProblem(reply, problem(429, refusal))
      }
      const client: Client = { ...owner, ...openStream(watch, () => clients.delete(client)) }
      clients.add(client)
      checkOn()
      request.raw.once('close', () => client.end())
      return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(client.stream)
    },
  )
}

interface OpenStream {
  readonly stream: Readable
  readonly end: () => void
}

type Client = StreamOwner & OpenStream

function openStream(watch: ChangeWatch, onEnd: () => void): OpenStream {
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
  return { stream, end }
}
