/** The log as the service writes it, kept as parsed lines. */

import type { LogLevel } from '../../../src/config/config.js'
import { createLogger, type Logger } from '../../../src/telemetry/logger.js'

export type LogLine = Record<string, unknown>

export function logToLines(level: LogLevel): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as LogLine)
  return { log: createLogger({ level, destination: { write } }), lines }
}
