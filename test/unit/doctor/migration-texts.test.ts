/** What `doctor` reads out of the shipped SQL files, so that it and they can't differ. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readGrants } from '../../../src/doctor/checks/grants.js'
import { namedIn } from '../../../src/doctor/checks/schema.js'

const read = (file: string): string =>
  readFileSync(new URL(`../../../migrations/${file}`, import.meta.url), 'utf8')

it('reads every grant of the worker’s file, columns apart', () => {
  const rights = readGrants(read('grants/worker.sql'))
  expect(rights).toContainEqual({
    privilege: 'usage',
    column: null,
    kind: 'schema',
    object: 'messenger',
  })
  const onParticipants = rights.filter(({ object }) => object === 'messenger.participants')
  expect(onParticipants).toEqual([
    { privilege: 'select', column: null, kind: 'table', object: 'messenger.participants' },
    { privilege: 'insert', column: null, kind: 'table', object: 'messenger.participants' },
    { privilege: 'update', column: 'left_at', kind: 'table', object: 'messenger.participants' },
  ])
})

it('reads several objects at once, and refuses what it does not know', () => {
  expect(readGrants('grant select (a, b) on x.y, x.z to someone;')).toHaveLength(4)
  expect(() => readGrants('alter default privileges grant select on tables to x;')).toThrow(
    'alter default privileges',
  )
})

it('finds the indexes and constraints that the migrations end up with', () => {
  const { indexes, constraints } = namedIn(read('0001_provisions_and_outbox.sql'))
  expect(indexes).toEqual(expect.arrayContaining(['ix_dcp_due', 'ix_dcp_tenant']))
  expect(constraints).toEqual(expect.arrayContaining(['ux_dcp_deal', 'ck_dcp_ready_has_chat']))
})

it('leaves out what a later migration drops, and comments', () => {
  const text = `create index ix_a on t (a); -- create index ix_b on t (b);
    create unique index concurrently if not exists ix_c on t (c);
    alter table t add constraint ck_d check (d > 0);
    drop index if exists messenger.ix_a; alter table t drop constraint ck_d;`
  expect(namedIn(text)).toEqual({ indexes: ['ix_c'], constraints: [] })
})
