/** Events in bulk, as producers write them, or already settled. */

import type { TestDatabase } from '../../support/test-database.js'

export interface ManyEvents {
  readonly topic: string
  readonly count: number
  /** The events go round these many deals in turn; left out, each has one of its own. */
  readonly deals?: number
  /** Further columns, each with an SQL expression. */
  readonly set?: Readonly<Record<string, string>>
}

let made = 0

/** Ids that rise go in far faster than random ones; no two calls give the same. */
export async function insertMany(database: TestDatabase, events: ManyEvents): Promise<void> {
  const { topic, count, deals = count, set = {} } = events
  const from = made
  made += count
  const columns = ['', ...Object.keys(set)].join()
  const values = ['', ...Object.values(set)].join()
  await database.query(
    `insert into messenger.outbox_events
       (id, aggregate_type, aggregate_id, type, topic, contract_version, payload ${columns})
     select lpad(to_hex($2 + n), 32, '0')::uuid, 'DealChatProvision', deal, 'DealChatStatusChanged', $1, 1,
       concat('{"DealId":"', deal,
         '","ChatId":null,"Status":"Failed","OccurredAt":"2026-01-02T03:04:05.678Z"}')::json ${values}
     from generate_series(0, $3::int - 1) n,
       lateral (select lpad(to_hex($2 + n % $4::int), 32, '0')::uuid as deal) d`,
    [topic, from, count, deals],
  )
}
