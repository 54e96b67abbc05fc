/**
 * Mutation testing of the pure parts that decide what becomes of a row: whatever is changed in them,
 * a test must notice. What lives on a real server is proved by the integration tests instead.
 */

export default {
  mutate: [
    'src/chokaq/kernel/*.ts',
    'src/postgres/failure-class.ts',
    'src/provisioning/{guards,last-error,retry-in-place}.ts',
  ],
  testRunner: 'vitest',
  vitest: { configFile: 'stryker.vitest.config.ts' },
  coverageAnalysis: 'perTest',
  // Only what the pure parts and their tests need is copied for each run.
  ignorePatterns: ['/*', '!/src', '!/test', '!/tsconfig.json', '!/stryker.vitest.config.ts'],
  tempDirName: '.cache/stryker',
  // What CI's machines have cores for.
  concurrency: 2,
  // Below 85 % the suite no longer guards the rules: the command fails.
  thresholds: { high: 95, low: 90, break: 85 },
  reporters: ['clear-text', 'progress', 'html', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  htmlReporter: { fileName: '.cache/mutation/report.html' },
  jsonReporter: { fileName: '.cache/mutation/report.json' },
}
