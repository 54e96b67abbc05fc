/** The storm's report as the page docs/faults.md. */

import type { StormReport } from './storm.js'

export function faultTable({ tried, deals, violations }: StormReport): string {
  const rows = [...tried].map(([name, times]) => `| ${name} | ${times} |`)
  return `# Faults tried

Written by \`CHAOS_WRITE=1 npm run test:chaos\`: three workers, a PostgreSQL of their own, a real Kafka.
After each round every invariant is checked in the database and on the topic.

| fault | times tried |
|---|---|
${rows.join('\n')}

${deals} deals (6 % of them poison of all kinds), **${violations.length} lost, doubled or out of order**.
`
}
