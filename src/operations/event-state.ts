/** What has become of an event, told from its four times. */

import { sql, type RawBuilder } from 'kysely'
import type { EventState } from '../outbox/operator-actions.js'

export type { EventState }

/** Over `messenger.outbox_events e`. */
export const eventState: RawBuilder<EventState> = sql<EventState>`case
  when e.published_at is not null then 'published'
  when e.superseded_at is not null then 'superseded'
  when e.skipped_at is not null then 'skipped'
  when e.parked_at is not null then 'parked'
  else 'pending' end`
