import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** The long storms; each bounds itself. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: ['test/chaos/**/*.chaos.ts'] } }),
)
