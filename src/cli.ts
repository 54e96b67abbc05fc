#!/usr/bin/env -S node --max-semi-space-size=4 --max-old-space-size=512
/**
 * The entry of `chat-provision-retry`: starts tracing first, for instrumentation must be in place
 * before pg is imported, and only then imports the rest.
 *
 * V8 lets its heap grow by the machine's memory and clears it away late: of 200 MB under full load, 40
 * were in use. Limits far above that make it tidy in time. They can't be set once it runs; Dockerfile
 * and package.json say them again.
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
