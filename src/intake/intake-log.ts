/** The intake's own log lines: one table of names and levels, so that no call site can misspell one. */

import type { Logger } from 'pino'

const levels = {
  'intake started': 'info',
  'intake stopped': 'info',
  'intake message parked': 'error',
  // A redelivery, or a topic read once more from its beginning: thousands of lines that say nothing.
  'intake deal known': 'debug',
  'intake waits for kafka': 'warn',
  'intake waits for the database': 'warn',
  'intake flows again': 'info',
} as const satisfies Record<string, 'debug' | 'info' | 'warn' | 'error'>

export function logIntake(log: Logger, event: keyof typeof levels, fields: object): void {
  log[levels[event]]({ event, ...fields }, event)
}
