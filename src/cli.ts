#!/usr/bin/env node
/**
 * The entry of `chat-provision-retry`: starts tracing first, for instrumentation must be in place
 * before pg is imported, and only then imports the rest.
 */

import { readEnvironment } from './config/environment.js'
import { startTracing } from './telemetry/start-tracing.js'

// Who reads our output may go away (`… | head`). Whoever writes hears of it from the write itself;
// unowned, the stream's own error would end the process with a dump.
process.stdout.on('error', () => undefined)

const environment = readEnvironment()
const stopTracing = await startTracing(environment)
const { runCommandLine } = await import('./commands/command-line.js')
process.exitCode = await runCommandLine(process.argv.slice(2), environment, stopTracing)
await stopTracing()
