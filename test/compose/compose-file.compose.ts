/**
 * docker-compose.yml on a real engine: up to the first Ready deal and its event, then PostgreSQL and
 * Kafka killed and started while deals keep coming. `npm run test:compose`; COMPOSE_WRITE=1 keeps the
 * log in docs/compose.md.
 */

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoDocker } from '../../src/demo/docker-kafka.js'
import { violations } from '../chaos/invariants.js'
import { feedDuring } from '../support/feed-during.js'
import { mustRun } from '../support/must-run.js'
import { waitFor } from '../support/wait-for.js'
import { writePart } from '../support/written-part.js'
import { docker } from './engine.js'
import { getImages, imagesNeeded } from './images.js'
import { looksInto, patient, type Looks } from './looks.js'
import { describeStack, type Stack } from './stack.js'

const worker = 'http://127.0.0.1:8080'
const readerToken = 'demo-only-reader'
/** Building an image and starting five programs, on two busy cores. */
const longMs = 600_000

const log: string[] = []
const started = performance.now()

function say(line: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  log.push(`${seconds.padStart(6)} s  ${line}`)
  process.stderr.write(`${log.at(-1)}\n`)
}

mustRun(
  'Docker',
  await whyNoDocker(),
  describe,
)('docker-compose.yml', () => {
  let stack: Stack
  let looks: Looks
  const acknowledged: string[] = []

  beforeAll(async () => {
    stack = await describeStack()
    looks = looksInto(stack)
    say(`engine ${await docker('version', '--format', '{{.Server.Version}}')}`)
    for (const line of await getImages(await imagesNeeded())) say(line)
    await docker('build', '--tag', 'chat-provision-retry:local', '.')
    say('image chat-provision-retry:local is built')
    await stack.up()
    say('docker compose up: all containers are started')
  }, longMs)

  afterAll(async () => {
    await stack.down()
  }, longMs)

  it(
    'finishes the deals that wait, and tells crm',
    async () => {
      await waitFor(
        'the first Ready deal',
        async () => (await looks.count(`status = 'Ready'`)) > 0,
        patient,
      )
      say('the first deal is Ready')
      await waitFor(
        'four Ready deals and one poison',
        async () =>
          (await looks.count(`status = 'Ready'`)) === 4 &&
          (await looks.count(
            `status = 'Failed' and attempts = 5 and last_error = 'guard:TITLE_BLANK'`,
          )) === 1,
        patient,
      )
      await looks.untilPublished()
      const messages = await stack.messages()
      expect(messages.map(({ value }) => statusOf(value)).sort()).toEqual([
        'Failed',
        'Ready',
        'Ready',
        'Ready',
        'Ready',
      ])
      const [first] = messages.filter(({ value }) => statusOf(value) === 'Ready')
      say(`on the topic: key ${first?.key}, ${String(first?.value)}`)
      say('four deals are Ready, the one with a blank title is poison; crm has five events')
      expect(await violations(stack)).toEqual([])
    },
    longMs,
  )

  it(
    'runs the worker as nobody in particular, on a root file system that it can’t write',
    async () => {
      expect(await stack.exec('worker', 'id', '-u')).toBe('1000')
      await expect(stack.exec('worker', 'touch', '/app/written')).rejects.toThrow(
        'Read-only file system',
      )
      await waitFor(
        'the health check',
        async () => (await stack.inspect('worker', '.State.Health.Status')) === 'healthy',
        patient,
      )
      say('the worker runs as user 1000, read-only, and its health check says healthy')
    },
    longMs,
  )

  it('opens the API by token only', async () => {
    const summary = `${worker}/api/v1/summary`
    expect((await fetch(summary)).status).toBe(401)
    const answer = await fetch(summary, { headers: { authorization: `Bearer ${readerToken}` } })
    expect(answer.status).toBe(200)
    say('the API answers by token, and by token only')
  })

  it('is scraped by Prometheus, which has the alert rules, and Grafana finds its files', async () => {
    const prometheus = 'http://127.0.0.1:9090/api/v1'
    await waitFor('a scrape', async () => {
      const { data } = await json<{ data: { activeTargets: { health: string }[] } }>(
        `${prometheus}/targets`,
      )
      return data.activeTargets[0]?.health === 'up'
    })
    const { data } = await json<{ data: { groups: { rules: unknown[] }[] } }>(`${prometheus}/rules`)
    const rules = data.groups.flatMap((group) => group.rules).length
    expect(rules).toBeGreaterThan(5)
    await waitFor('Grafana', async () => (await fetch('http://127.0.0.1:3000/api/health')).ok)
    say(`Prometheus scrapes the worker and has ${rules} rules; Grafana's files are mounted`)
  })

  it(
    'loses nothing when PostgreSQL is killed',
    async () => {
      const fed = await feedDuring(stack.admin, async () => {
        await looks.untilMoreReady(20)
        await stack.kill('postgres')
        say('PostgreSQL is killed')
        await waitFor('the worker to say so', async () => !(await fetch(`${worker}/readyz`)).ok)
        expect((await fetch(`${worker}/healthz`)).ok).toBe(true)
        say('/readyz says 503, /healthz 200')
        await stack.start('postgres')
        await waitFor(
          'the worker to be ready',
          async () => (await fetch(`${worker}/readyz`)).ok,
          patient,
        )
        say('PostgreSQL is started; /readyz says 200')
        await looks.untilMoreReady(20)
      })
      acknowledged.push(...fed)
      await expectNothingLost()
    },
    longMs,
  )

  it(
    'loses nothing when Kafka is killed',
    async () => {
      const fed = await feedDuring(stack.admin, async () => {
        await looks.untilMoreReady(20)
        await stack.kill('kafka')
        say('Kafka is killed')
        await waitFor('the worker to say so', async () => !(await fetch(`${worker}/readyz`)).ok)
        say('/readyz says 503')
        await looks.untilMoreReady(20)
        say('deals go on becoming Ready; their events wait in the outbox')
        await stack.start('kafka')
        await waitFor(
          'the worker to be ready',
          async () => (await fetch(`${worker}/readyz`)).ok,
          patient,
        )
        say('Kafka is started; /readyz says 200')
      })
      acknowledged.push(...fed)
      await expectNothingLost()
    },
    longMs,
  )

  it(
    'loses nothing when both are killed at once',
    async () => {
      const fed = await feedDuring(stack.admin, async () => {
        await looks.untilMoreReady(10)
        await Promise.all([stack.kill('postgres'), stack.kill('kafka')])
        say('PostgreSQL and Kafka are killed')
        await waitFor('the worker to say so', async () => !(await fetch(`${worker}/readyz`)).ok)
        await Promise.all([stack.start('postgres'), stack.start('kafka')])
        await waitFor(
          'the worker to be ready',
          async () => (await fetch(`${worker}/readyz`)).ok,
          patient,
        )
        say('both are started; /readyz says 200')
      })
      acknowledged.push(...fed)
      await expectNothingLost()
      expect(await stack.inspect('worker', '.RestartCount')).toBe('0')
      say('the worker was never restarted')
      if (process.env['COMPOSE_WRITE'] === undefined) return
      await writePart('docs/compose.md', 'log', ['```', ...log, '```'])
    },
    longMs,
  )

  async function expectNothingLost(): Promise<void> {
    await waitFor(
      'every deal to be finished',
      async () => (await looks.count(`status <> 'Ready' and attempts < 5`)) === 0,
      patient,
    )
    await looks.untilPublished()
    const ready = await sql<{ deal_id: string }>`select deal_id from messenger.deal_chat_provisions
      where status = 'Ready'`.execute(stack.admin)
    const finished = new Set(ready.rows.map((row) => row.deal_id))
    const missing = acknowledged.filter((dealId) => !finished.has(dealId))
    const wrong = await violations(stack)
    const messages = await stack.messages()
    const ids = new Set(messages.map(({ headers }) => headers['ce_id']))
    say(
      `${acknowledged.length} deals were acknowledged, ${missing.length} are not Ready; ` +
        `${messages.length} messages with ${ids.size} events; ${wrong.length} invariants broken`,
    )
    expect(missing).toEqual([])
    expect(wrong).toEqual([])
  }
})

async function json<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T
}

function statusOf(value: Buffer | null): string {
  return (JSON.parse(String(value)) as { Status: string }).Status
}
