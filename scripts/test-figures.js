/**
 * Reads vitest's JSON report and prints "N passed, N failed" on stdout, as the last line of CI; what failed,
 * and why, on stderr, so that the end of a log that was cut tells it all the same.
 * Exit code 1 where a test failed, where there was none, or where one was skipped that CI must run.
 *
 * usage: node scripts/test-figures.js REPORT
 */

import { readFileSync } from 'node:fs'
import process from 'node:process'

/** What the name of a test ends with that may be skipped in CI; see test/support/must-run.ts. */
const mayBeSkipped = /\[needs Docker\]/

/** Where the run broke down before its report, that is one failure. */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    process.stderr.write(`there is no test report: ${error.message}\n`)
    return { success: false, numPassedTests: 0, numFailedTests: 1, testResults: [] }
  }
}

const report = readReport(process.argv[2])
const tests = report.testResults.flatMap((file) => file.assertionResults)
const skipped = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed')
const forbidden = skipped.filter((test) => !mayBeSkipped.test(test.fullName))
// A file can fail while each of its tests passed: it didn't load, or left a session open.
const brokenFiles = report.testResults.filter(
  (file) =>
    file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
)

/** Lines of a failure's message worth keeping: the assertion and its difference, not the whole stack. */
const messageLines = 25

for (const test of tests.filter((each) => each.status === 'failed')) {
  const message = test.failureMessages.join('\n').split('\n').slice(0, messageLines).join('\n    ')
  process.stderr.write(`failed: ${test.fullName}\n    ${message}\n`)
}
for (const test of forbidden) process.stderr.write(`skipped in CI: ${test.fullName}\n`)
for (const file of brokenFiles) process.stderr.write(`failed as a whole: ${file.name}\n`)

const failed = report.numFailedTests + brokenFiles.length
const unexplained = report.success || failed > 0 ? 0 : 1
process.stdout.write(`${report.numPassedTests} passed, ${failed + unexplained} failed\n`)
process.exitCode =
  report.success && failed === 0 && forbidden.length === 0 && report.numPassedTests > 0 ? 0 : 1
