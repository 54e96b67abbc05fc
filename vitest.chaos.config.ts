import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** The long storms, one after the other, for each times its own faults; each bounds itself. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: ['test/chaos/**/*.chaos.ts'], fileParallelism: false } }),
)
