/** The one reading of the process's environment; everything else takes it as a parameter. */

import type { Environment } from './read-options.js'

export function readEnvironment(): Environment {
  return process.env
}
