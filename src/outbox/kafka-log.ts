/**
 * kafkajs's own log lines, as pino writes them.
 *
 * They go to debug, whatever level kafkajs gives them: it logs an ERROR per try, also for answers
 * that it then retries with success. What an outage means is said once, by the relay.
 */

import { logLevel, type LogEntry } from 'kafkajs'

/** As much of a pino logger as is needed here. */
export interface DebugLog {
  isLevelEnabled(level: string): boolean
  debug(fields: object, message: string): void
  trace(fields: object, message: string): void
}

export function kafkaLogOptions(log: DebugLog): {
  logLevel: logLevel
  logCreator: () => (entry: LogEntry) => void
} {
  const write = (entry: LogEntry): void => {
    const line = {
      ...entry.log,
      logger: `kafkajs ${entry.namespace}`,
      kafkajsLevel: entry.label,
      // pino writes its own.
      message: undefined,
      timestamp: undefined,
    }
    if (entry.level === logLevel.DEBUG) log.trace(line, entry.log.message)
    else log.debug(line, entry.log.message)
  }
  return { logLevel: levelFor(log), logCreator: () => write }
}

/** kafkajs builds each line before it is dropped, so it is told what would be kept. */
function levelFor(log: DebugLog): logLevel {
  if (log.isLevelEnabled('trace')) return logLevel.DEBUG
  return log.isLevelEnabled('debug') ? logLevel.INFO : logLevel.NOTHING
}
