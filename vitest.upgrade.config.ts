import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** The release before and this version beside each other; the first run builds the former. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: ['test/upgrade/**/*.upgrade.ts'], hookTimeout: 600_000 } }),
)
