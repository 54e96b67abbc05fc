/** The unit tests of the pure parts alone: no servers, so that a mutant costs milliseconds. */

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/unit/{kernel,postgres,provisioning}/**/*.test.ts'] },
})
