/** What has become of an event, told from its four times. */

import { sql, type RawBuilder } from 'kysely'
import { AppError } from '../errors.js'
import type { EventState } from '../outbox/operator-actions.js'
import { quoted } from './read-input.js'

export type { EventState }

const states = [
  'pending',
  'parked',
  'published',
  'superseded',
  'skipped',
] as const satisfies readonly EventState[]

/** @throws AppError INPUT_INVALID with what is allowed */
export function readEventState(text: string): EventState {
  const state = states.find((name) => name === text.toLowerCase())
  if (state !== undefined) return state
  throw new AppError(
    'INPUT_INVALID',
    `Not a state: ${quoted(text)}. It is one of ${states.join(', ')}.`,
  )
}

/** Over `messenger.outbox_events e`. */
export const eventState: RawBuilder<EventState> = sql<EventState>`case
  when e.published_at is not null then 'published'
  when e.superseded_at is not null then 'superseded'
  when e.skipped_at is not null then 'skipped'
  when e.parked_at is not null then 'parked'
  else 'pending' end`

const isOpen = sql`e.published_at is null and e.superseded_at is null and e.skipped_at is null`

/** Over e, in the words of the partial indexes, so that few pending ones are found among millions. */
export const isInState: Readonly<Record<EventState, RawBuilder<boolean>>> = {
  pending: sql<boolean>`(${isOpen} and e.parked_at is null)`,
  parked: sql<boolean>`(${isOpen} and e.parked_at is not null)`,
  published: sql<boolean>`(e.published_at is not null)`,
  superseded: sql<boolean>`(e.published_at is null and e.superseded_at is not null)`,
  skipped: sql<boolean>`(e.published_at is null and e.superseded_at is null
    and e.skipped_at is not null)`,
}

/** Over e: its deal has a newer event, so that this one, if it is parked, is as good as superseded. */
export const hasNewer: RawBuilder<boolean> = sql<boolean>`exists (
  select from messenger.outbox_events newer
  where newer.aggregate_id = e.aggregate_id and newer.topic = e.topic and newer.seq > e.seq)`
