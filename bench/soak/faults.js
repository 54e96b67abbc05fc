/** What goes wrong during a soak, by turns; each is a function that does it and takes it back. */

import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { startServe } from '../frame/serve-process.js'
import { ask, token } from './world.js'

const awayMs = 15_000
const frozenMs = 20_000
const stormMs = 20_000
const stormClients = 20
const slowMs = 60_000
const slowClients = 5
/** Far above a start and a takeover on a busy machine; reached only by a fault of the service. */
const takeoverMs = 120_000

export const faults = [
  ['broker killed', brokerKilled],
  ['sessions ended', sessionsEnded],
  ['PostgreSQL killed', postgresKilled],
  ['frozen', frozen],
  ['slow clients', slowReaders],
  ['scrape storm', scrapeStorm],
  ['another instance takes over', takeover],
]

async function brokerKilled({ kafka }) {
  const [node] = kafka.nodes
  await node.kill()
  await delay(awayMs)
  await node.start()
}

async function sessionsEnded({ db }) {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'chat-provision-retry%'
  `.execute(db)
}

async function postgresKilled({ postgres }) {
  await postgres.kill()
  await delay(awayMs)
  await postgres.start()
}

async function frozen({ serve }) {
  serve.signal('SIGSTOP')
  await delay(frozenMs)
  serve.signal('SIGCONT')
}

/** They ask for much and read nothing, or never come to the end of their request. */
async function slowReaders({ serve }) {
  const { hostname, port } = new globalThis.URL(serve.address)
  const request =
    `GET /api/v1/provisions?limit=100 HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
    `Authorization: Bearer ${token}\r\n\r\n`
  const sockets = Array.from({ length: slowClients }, () => connect(Number(port), hostname))
  const head = connect(Number(port), hostname)
  for (const socket of [...sockets, head]) socket.on('error', () => undefined).pause()
  for (const socket of sockets) socket.write(request.repeat(20))
  const end = Date.now() + slowMs
  for (let n = 0; Date.now() < end; n += 1) {
    head.write(n === 0 ? 'GET / HTTP/1.1\r\nHost: ' : 'a')
    await delay(1_000)
  }
  for (const socket of [...sockets, head]) socket.destroy()
}

async function scrapeStorm({ serve }) {
  const end = Date.now() + stormMs
  const client = async () => {
    while (Date.now() < end) await ask(serve.address, 'GET', '/metrics')
  }
  await Promise.all(Array.from({ length: stormClients }, client))
}

/** The measured one is frozen until the other has run a cycle, then gets the locks back. */
async function takeover({ serve, environment }) {
  let log = ''
  const other = await startServe(environment, { onLog: (part) => (log += part) })
  try {
    serve.signal('SIGSTOP')
    const deadline = Date.now() + takeoverMs
    while (!log.includes('"cycle completed"')) {
      if (Date.now() > deadline) throw new Error('the other instance did not take over')
      await delay(250)
    }
  } finally {
    serve.signal('SIGCONT')
    await other.stop()
  }
}
