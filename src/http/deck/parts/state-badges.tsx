/** The words and colours for the states that things have. */

import type { ProvisionStatus } from '../../../postgres/schema.js'
import type { RunLine } from '../../../operations/list-runs.js'
import { Badge, type Tone } from './badge.js'

interface ProvisionState {
  readonly status: ProvisionStatus
  readonly attempts: number
}

export function ProvisionBadge(props: {
  readonly row: ProvisionState
  readonly maxAttempts: number
}): JSX.Element {
  const { row, maxAttempts } = props
  if (row.status === 'Ready') return <Badge tone="good" text="Ready" />
  if (row.status === 'Provisioning') return <Badge tone="plain" text="Provisioning" />
  return row.attempts >= maxAttempts ? (
    <Badge tone="bad" text="Out of attempts" />
  ) : (
    <Badge tone="warn" text="Failed" />
  )
}

const ofOutcome: Readonly<Record<NonNullable<RunLine['outcome']>, Tone>> = {
  completed: 'good',
  aborted: 'bad',
  stopped: 'warn',
}

export function OutcomeBadge({ outcome }: { readonly outcome: RunLine['outcome'] }): JSX.Element {
  return outcome === null ? (
    <Badge tone="plain" text="running" />
  ) : (
    <Badge tone={ofOutcome[outcome]} text={outcome} />
  )
}
