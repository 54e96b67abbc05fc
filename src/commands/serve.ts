/** `serve`: the service itself, until a signal ends it. */

import closeWithGrace from 'close-with-grace'
import { createApp } from '../app.js'
import type { Environment } from '../config/read-options.js'
import type { AppError } from '../errors.js'
import { startUp } from './start-up.js'

/**
 * Ends the process itself: 0 after SIGTERM or SIGINT, otherwise the code of the error that it could
 * not go on from. A second signal ends it at once.
 *
 * @param flush what is left to do just before the end
 * @throws AppError where it can't begin: options, or a port in use
 */
export async function serve(environment: Environment, flush: () => Promise<void>): Promise<never> {
  const { config, log } = startUp(environment, { database: true, kafka: true, http: true })
  let exitCode: 0 | 1 | 2 = 0
  const app = createApp({
    config,
    log,
    onFatal: (error: AppError) => {
      log.fatal({ event: 'service can not go on', err: error }, error.message)
      process.stderr.write(`error: ${error.message}\n`)
      exitCode = error.exitCode
      grace.close()
    },
  })
  const grace = closeWithGrace(
    { delay: config.shutdownGraceMs, logger: false },
    async ({ err }) => {
      if (err !== undefined) {
        log.fatal({ event: 'unforeseen error', err }, 'unforeseen error')
        exitCode = 1
      }
      await app.stop()
      await flush()
      process.exit(exitCode)
    },
  )
  try {
    await app.start()
  } catch (error) {
    grace.uninstall()
    await app.stop()
    throw error
  }
  // The handler above ends the process.
  return new Promise(() => undefined)
}
