/** What can go wrong, each as one function that does it and takes it back. */

import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { lockKeys } from '../../src/postgres/session-lock.js'
import { Rival } from '../support/rival.js'
import type { World } from './world.js'

export type Random = () => number

export interface Fault {
  readonly name: string
  inflict(world: World, random: Random): Promise<void>
}

const between = (random: Random, low: number, high: number): number =>
  Math.round(low + random() * (high - low))

const anInstance = (world: World, random: Random): number =>
  Math.floor(random() * world.instances.length)

async function unfinishedDeals(world: World, limit: number): Promise<string[]> {
  const { rows } = await sql<{ deal_id: string }>`
    select deal_id from messenger.deal_chat_provisions
    where status <> 'Ready' order by random() limit ${limit}`.execute(world.admin)
  return rows.map((row) => row.deal_id)
}

/** The rival may be the deadlock's victim, or lose its session to another fault. */
async function asRival(world: World, work: (rival: Rival) => Promise<void>): Promise<void> {
  try {
    const rival = await Rival.begin(world.adminUrl)
    try {
      await work(rival)
    } finally {
      await rival.rollback()
    }
  } catch {
    // Whatever became of the rival: only the service is on trial.
  }
}

export const faults: readonly Fault[] = [
  {
    name: 'kill -9 of a worker',
    async inflict(world, random) {
      await world.replace(anInstance(world, random), 'SIGKILL')
    },
  },
  {
    name: 'SIGTERM of a worker',
    async inflict(world, random) {
      const index = anInstance(world, random)
      // Before it has begun anything, the signal ends it the system's way.
      await world.instances[index]?.logged('http listening')
      const exitCode = await world.replace(index, 'SIGTERM')
      if (exitCode !== 0) throw new Error(`a worker ended with ${exitCode} after SIGTERM`)
    },
  },
  {
    name: 'a worker frozen for seconds',
    async inflict(world, random) {
      const instance = world.instances[anInstance(world, random)]
      instance?.child.kill('SIGSTOP')
      await delay(between(random, 500, 3_000))
      instance?.child.kill('SIGCONT')
    },
  },
  {
    name: 'pg_terminate_backend on every session of the service',
    async inflict(world) {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'chat-provision-retry%'`.execute(
        world.admin,
      )
    },
  },
  {
    name: 'PostgreSQL restarted',
    inflict: (world) => world.postgres.restart(),
  },
  {
    name: 'PostgreSQL killed -9',
    async inflict(world, random) {
      await world.postgres.kill()
      await delay(between(random, 0, 1_000))
      await world.postgres.start()
    },
  },
  {
    name: 'read-only, as after a failover',
    async inflict(world, random) {
      await readOnly(world, true)
      await delay(between(random, 300, 1_500))
      await readOnly(world, false)
    },
  },
  {
    name: 'a foreign holder of the run lock',
    inflict: (world, random) =>
      asRival(world, async (rival) => {
        const { namespace, key } = lockKeys.run
        await rival.query('select pg_advisory_xact_lock($1, $2)', [namespace, key])
        await delay(between(random, 300, 1_500))
      }),
  },
  {
    name: 'rows held by someone else',
    inflict: (world, random) =>
      asRival(world, async (rival) => {
        for (const deal of await unfinishedDeals(world, 10)) await rival.lockDeal(deal)
        await delay(between(random, 300, 1_500))
      }),
  },
  {
    name: 'a slow writer on the messenger’s tables',
    inflict: (world, random) =>
      asRival(world, async (rival) => {
        await rival.query('lock table messenger.participants in share mode')
        await delay(between(random, 300, 2_000))
      }),
  },
  {
    name: 'deadlocks with a writer on the messenger’s tables',
    async inflict(world) {
      for (const deal of await unfinishedDeals(world, 5)) {
        await asRival(world, async (rival) => {
          await rival.insertChat(deal)
          await rival.lockDeal(deal)
        })
      }
    },
  },
]

async function readOnly(world: World, on: boolean): Promise<void> {
  await sql`set default_transaction_read_only = off`.execute(world.admin)
  await sql.raw(`alter system set default_transaction_read_only = ${on}`).execute(world.admin)
  await sql`select pg_reload_conf()`.execute(world.admin)
}
