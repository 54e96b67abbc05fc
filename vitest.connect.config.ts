import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** Kafka Connect with Debezium beside the daily run: two Java processes and a PostgreSQL of its own. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/connect/**/*.connect.ts'],
      // Connect needs 10 s to start on a quiet machine, and the first run fetches its jars.
      testTimeout: 180_000,
      hookTimeout: 300_000,
    },
  }),
)
