import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** docker-compose.yml on a real engine, with everything in containers: no server of the tests' own. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], globalSetup: [] } },
  // One test goes on from where the one before has left the stack.
  defineConfig({ test: { include: ['test/compose/**/*.compose.ts'], bail: 1 } }),
)
