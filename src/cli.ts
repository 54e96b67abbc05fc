#!/usr/bin/env -S node --max-semi-space-size=4
/**
 * The entry of `chat-provision-retry`: starts tracing first, for instrumentation must be in place
 * before pg is imported, and only then imports the rest.
 *
 * Under load V8 lets the space for new objects grow to 48 MB, which buys nothing here: with 12 the same
 * work is done in a seventh less memory. The flag can't be set once it runs; Dockerfile and
 * package.json say it again.
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
