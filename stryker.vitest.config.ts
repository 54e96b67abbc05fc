/** The unit tests of the mutated files alone: no servers, so that a mutant costs milliseconds. */

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'test/unit/kernel/{backoff,circuit-breaker*,concurrency-limiter,job-state,retry-decision}.test.ts',
      'test/unit/postgres/*.test.ts',
      'test/unit/provisioning/{guards,last-error,retry-in-place}.test.ts',
    ],
  },
})
