/** The relay's log lines: one table of names and levels, so that no call site can misspell one. */

import type { EventLog } from '../telemetry/log-events.js'

const levels = {
  'outbox relay started': 'info',
  'outbox relay stopped': 'info',
  'outbox relay standby': 'info',
  'outbox relay lost its lock': 'warn',
  'outbox published': 'info',
  'outbox superseded': 'info',
  'outbox pruned': 'info',
  'outbox retention waits': 'warn',
  'outbox mark refused': 'warn',
  'outbox event failed': 'warn',
  'outbox parked': 'error',
  'outbox waits for kafka': 'warn',
  'outbox waits for the database': 'warn',
  'outbox flows again': 'info',
} as const satisfies Record<string, keyof EventLog>

export type OutboxLogEvent = keyof typeof levels
export type OutboxLog = EventLog

export function logOutbox(log: OutboxLog, event: OutboxLogEvent, fields: object): void {
  log[levels[event]]({ event, ...fields }, event)
}
