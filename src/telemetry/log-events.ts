/**
 * The log events that alerts, dashboards and people search for: their names, levels and fields
 * are promises. One table, so that no call site can invent or misspell one.
 */

const logEvents = {
  'cycle started': 'info',
  'batch claimed': 'info',
  'chat provisioned': 'info',
  'provision retry': 'warn',
  'provision failed': 'error',
  'cycle completed': 'info',
  'cycle skipped': 'info',
} as const satisfies Record<string, 'info' | 'warn' | 'error'>

type LogEvent = keyof typeof logEvents

/** The fields that each event always carries; a call may add more. */
interface LogEventFields {
  'cycle started': { readonly jobRunId: string; readonly asOf: string }
  'batch claimed': { readonly rows: number }
  'chat provisioned': {
    readonly dealId: string
    readonly chatId: string
    readonly attempts: number
  }
  'provision retry': {
    readonly dealId: string
    readonly attempts: number
    readonly errorCode: string
  }
  'provision failed': { readonly dealId: string; readonly poison: true }
  'cycle completed': {
    readonly provisioned: number
    readonly retried: number
    readonly failed: number
    readonly durationMs: number
  }
  'cycle skipped': { readonly reason: string }
}

/** As much of a pino logger as an event needs. */
export type EventLog = Readonly<
  Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>
>

/** Writes the event at its promised level, the name as `event` and as the message. */
export function logEvent<E extends LogEvent>(
  log: EventLog,
  event: E,
  fields: LogEventFields[E] & Readonly<Record<string, unknown>>,
): void {
  log[logEvents[event]]({ event, ...fields }, event)
}
