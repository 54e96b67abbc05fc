/**
 * From the release before to this version, and back, with data in place and deals that keep coming:
 * migrations under load, two versions beside each other, one replaced after the other.
 * `npm run test:upgrade`.
 */

import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { locksLeft, violations } from '../chaos/invariants.js'
import { runCli, startCli, type RunningCli } from '../support/cli.js'
import { feedDuring } from '../support/feed-during.js'
import { createTopic, describeWithKafka, kafkaBrokers, readTopic } from '../support/kafka.js'
import { mustRun } from '../support/must-run.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { buildReleaseBefore, whyNoBase } from './release-before.js'

const maxAttempts = 20

const describeUpgrade = mustRun('the release before', await whyNoBase(), describe)

describeUpgrade('from the release before', () => {
  describeWithKafka('to this version', () => {
    let database: TestDatabase
    let before: string
    let environment: Record<string, string>
    const running: RunningCli[] = []

    beforeAll(async () => {
      before = await buildReleaseBefore()
      database = await createTestDatabase({ empty: true })
      const topic = await createTopic({ partitions: 3 })
      environment = {
        DATABASE_URL: database.url,
        KAFKA_BROKERS: (await kafkaBrokers()).join(),
        OUTBOX_TOPIC: topic,
        HTTP_PORT: '0',
        CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
        CHAT_PROVISION_RETRY_BACKOFF_BASE: '100ms',
        CHAT_PROVISION_RETRY_BACKOFF_CAP: '500ms',
        CHAT_PROVISION_RETRY_MAX_ATTEMPTS: String(maxAttempts),
      }
    })

    afterAll(async () => {
      for (const cli of running) cli.child.kill('SIGKILL')
      await Promise.all(running.map(({ exited }) => exited))
      await database.close()
      await database.drop()
    })

    function serve(program?: string): RunningCli {
      const cli = startCli(['serve'], environment, program)
      running.push(cli)
      return cli
    }

    async function migrate(program: string | undefined): Promise<void> {
      const owner = { DATABASE_URL: database.adminUrl }
      const { exitCode, stderr } = await runCli(['migrate', 'up', '--reference'], owner, program)
      expect(stderr).toBe('')
      expect(exitCode).toBe(0)
      const root = program === undefined ? '.' : join(dirname(program), '..')
      const grants = await readFile(join(root, 'migrations/grants/worker.sql'), 'utf8')
      await sql.raw(grants).execute(database.admin)
    }

    /** Each finishes deals from now on, so none of them stands by for good. */
    async function untilAllWork(...instances: RunningCli[]): Promise<void> {
      const counts = instances.map(provisioned)
      await waitFor('each instance to finish deals', () =>
        instances.every((cli, index) => provisioned(cli) > (counts[index] ?? 0)),
      )
    }

    const provisioned = (cli: RunningCli): number =>
      cli.log().filter(({ event }) => event === 'chat provisioned').length

    async function stop(cli: RunningCli): Promise<void> {
      cli.child.kill('SIGTERM')
      expect(await cli.exited).toBe(0)
    }

    it('rolls forward, back and forward again, and loses nothing', async () => {
      await migrate(before)
      const [oldest, older] = [serve(before), serve(before)]
      const acknowledged = await feedDuring(database.admin, async () => {
        await untilAllWork(oldest, older)
        await migrate(undefined)
        await untilAllWork(oldest, older)
        const newer = serve()
        await untilAllWork(older, newer)
        await stop(oldest)
        const newest = serve()
        await untilAllWork(older, newer, newest)
        await stop(older)
        const goneBackTo = serve(before)
        await untilAllWork(goneBackTo, newest)
        await stop(newer)
        await stop(goneBackTo)
        await untilAllWork(newest)
      })
      await untilDone()
      const ready = await sql<{
        deal_id: string
      }>`select deal_id from messenger.deal_chat_provisions
        where status = 'Ready'`.execute(database.admin)
      const finished = new Set(ready.rows.map((row) => row.deal_id))
      expect(acknowledged.length).toBeGreaterThan(20)
      expect(acknowledged.filter((dealId) => !finished.has(dealId))).toEqual([])
      const messages = () => readTopic(environment['OUTBOX_TOPIC'] ?? '')
      expect(await violations({ admin: database.admin, maxAttempts, messages })).toEqual([])
      for (const cli of running) {
        const worst = cli.log().filter(({ level }) => Number(level) >= 50)
        expect(worst).toEqual([])
        if (!cli.child.killed) await stop(cli)
      }
      expect(await locksLeft(database)).toBe(0)
    }, 300_000)

    async function untilDone(): Promise<void> {
      await waitFor('every deal to be Ready, every event published', async () => {
        const { rows } = await sql<{ n: number }>`
          select (select count(*)::int from messenger.deal_chat_provisions where status <> 'Ready')
            + (select count(*)::int from messenger.outbox_events where published_at is null) as n
        `.execute(database.admin)
        return rows[0]?.n === 0
      })
    }
  })
})
