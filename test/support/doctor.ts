/** `doctor`'s findings on a test's database, by the name of their check. */

import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Environment } from '../../src/config/read-options.js'
import { examineAll } from '../../src/doctor/examination.js'
import type { Finding } from '../../src/doctor/finding.js'
import type { TestDatabase } from './test-database.js'

export type Findings = Readonly<Record<string, Finding>>

export const databaseChecks = [
  'database',
  'schema',
  'reference tables',
  'grants',
  'lock address',
  'locks',
  'clocks',
  'transactions',
  'rows',
  'poison rows',
  'parked events',
  'intake messages',
  'jobs',
  'dead letters',
  'queues',
  'replication slot',
] as const

export function useDoctor(database: () => TestDatabase) {
  const examine = async (environment: Environment = {}): Promise<Findings> => {
    const findings = await examineAll({
      DATABASE_URL: database().url,
      OUTBOX_RELAY: 'stdout',
      ...environment,
    })
    return Object.fromEntries(findings.map((finding) => [finding.check, finding]))
  }
  return {
    examine,
    /** Does one thing wrong, looks, and takes it back. */
    examineWith: async (wrong: string, right: string): Promise<Findings> => {
      await sql.raw(wrong).execute(database().admin)
      try {
        return await examine()
      } finally {
        await sql.raw(right).execute(database().admin)
      }
    },
  }
}

/** The named checks found something, and no others did. */
export function expectOnly(findings: Findings, ...checks: string[]): void {
  const troubled = Object.values(findings).filter(
    ({ status }) => status === 'failed' || status === 'warning',
  )
  expect(troubled.map((finding) => finding.check)).toEqual(checks)
}
