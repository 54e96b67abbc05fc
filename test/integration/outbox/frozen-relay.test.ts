/** A relay whose process is frozen in the middle of a send, replaced meanwhile, and wakes again. */

import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { skipEvent } from '../../../src/outbox/operator-actions.js'
import { startCli, type RunningCli } from '../../support/cli.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { appendEvent, isInSend, outboxState } from './relay-fixtures.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
/**
 * One batch of far more bytes than a pipe and its reader's buffer hold; not a full one, behind which the
 * relay would look for more while it sends.
 */
const batch = 499
/** The lock of a frozen holder is freed after 15 s and two send deadlines; a standby looks every 5 s. */
const takeOver = { timeoutMs: 60_000 }

const running: RunningCli[] = []
afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.child.kill('SIGKILL')
    await cli.exited
  }
})

function serve(): RunningCli {
  const cli = startCli(['serve'], {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'stdout',
    OUTBOX_POLL_INTERVAL: '100ms',
    OUTBOX_SEND_TIMEOUT: '1s',
    HTTP_PORT: '0',
  })
  running.push(cli)
  return cli
}

const insertBatch = (): Promise<unknown> =>
  database().query(
    `insert into messenger.outbox_events
       (id, aggregate_type, aggregate_id, type, topic, contract_version, payload)
     select gen_random_uuid(), 'DealChatProvision', deal, 'DealChatStatusChanged', $1, 1,
       concat('{"DealId":"', deal,
         '","ChatId":null,"Status":"Failed","OccurredAt":"2026-01-02T03:04:05.678Z"}')::json
     from (select gen_random_uuid() as deal from generate_series(1, $2)) deals`,
    [topic, batch],
  )

/** Every column that a relay writes, and xmin, which tells of any write at all. */
async function rows(): Promise<unknown[]> {
  const { rows: found } = await sql`
    select id, published_at, skipped_at, parked_at, attempts, last_error, xmin::text
    from messenger.outbox_events order by seq
  `.execute(database().admin)
  return found
}

const countPublished = async (): Promise<number> =>
  (await database().query('select from messenger.outbox_events where published_at is not null'))
    .length

test('unmarks nothing, and marks nothing that isn’t its own', async () => {
  const frozen = serve()
  await frozen.logged('outbox relay started')
  frozen.child.stdout?.pause()
  await insertBatch()
  await waitFor('the relay to be in its send', () => isInSend(database()))
  frozen.child.kill('SIGSTOP')
  const [skipped] = await database().query<{ id: string }>(
    'select id from messenger.outbox_events order by seq limit 1',
  )
  const skippedId = skipped?.id ?? ''
  await database()
    .admin.transaction()
    .execute((trx) => skipEvent(trx, skippedId))

  const successor = serve()
  await successor.logged('outbox relay started', takeOver.timeoutMs)
  await waitFor('the successor to publish', async () => (await countPublished()) === batch - 1)
  const settled = await rows()

  frozen.child.stdout?.resume()
  frozen.child.kill('SIGCONT')
  await waitFor(
    'the late send, of the whole batch',
    () => frozen.stdout().split('\n').length > batch,
  )
  await frozen.logged('outbox relay standby', takeOver.timeoutMs)
  expect(await rows()).toEqual(settled)
  expect(await outboxState(database(), skippedId)).toMatchObject({ state: 'skipped' })

  const { id } = await appendEvent(database(), { topic })
  await waitFor('the new event', async () => (await countPublished()) === batch)
  expect(successor.stdout()).toContain(id)
  expect(frozen.stdout()).not.toContain(id)
}, 150_000)
