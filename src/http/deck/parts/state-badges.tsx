/** The words and colours for the states that things have. */

import type { ProvisionStatus } from '../../../postgres/schema.js'
import type { RunLine } from '../../../operations/list-runs.js'
import type { EventState } from '../../../operations/event-state.js'
import type { JobState } from '../../../chokaq/index.js'
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

const ofEvent: Readonly<Record<EventState, Tone>> = {
  pending: 'plain',
  parked: 'bad',
  published: 'good',
  superseded: 'plain',
  skipped: 'warn',
}

export function EventBadge({ state }: { readonly state: EventState }): JSX.Element {
  return <Badge tone={ofEvent[state]} text={state} />
}

const ofJob: Readonly<Record<JobState, Tone>> = {
  Pending: 'plain',
  Fetched: 'plain',
  Processing: 'warn',
  Succeeded: 'good',
  Failed: 'bad',
  Cancelled: 'warn',
  Zombie: 'bad',
}

export function JobBadge({ state }: { readonly state: JobState }): JSX.Element {
  return <Badge tone={ofJob[state]} text={state} />
}
