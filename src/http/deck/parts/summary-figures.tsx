/** The figures of the overview. */

import type { Summary } from '../../api/schemas/action-answers.js'
import { Figure } from './figure.js'
import { countText, spanText } from './text.js'

export function SummaryFigures({ seen }: { readonly seen: Summary }): JSX.Element {
  const { provisions, outbox, lastRun, jobs } = seen
  const { backlog, poison, oldestAgeSeconds } = provisions
  return (
    <dl class="figure-row">
      <Figure
        name="Backlog"
        value={countText(backlog)}
        note={`${countText(provisions.failed)} failed, ${countText(provisions.stuck)} stuck`}
        href="/deck/provisions?state=Failed"
      />
      <Figure
        name="Oldest"
        value={oldestAgeSeconds === 0 ? '–' : spanText(oldestAgeSeconds)}
        note="that still has attempts"
      />
      <Figure
        name="Poison"
        value={countText(poison)}
        note="out of attempts"
        href="/deck/provisions?state=poison"
        {...(poison > 0 && { tone: 'bad' })}
      />
      <Figure {...publishing(outbox)} />
      <Figure name="Last cycle" {...lastCycle(lastRun)} href="/deck/runs" />
      <Figure
        name="Jobs"
        value={countText(jobs.due + jobs.running)}
        note={`${countText(jobs.running)} running, ${countText(jobs.dead)} dead`}
        href="/deck/jobs"
      />
    </dl>
  )
}

function lastCycle(run: Summary['lastRun']) {
  if (run === null) return { value: '–', note: 'none yet' }
  const ageSeconds = Math.max(0, Date.now() - Date.parse(run.startedAt)) / 1_000
  const note = `${run.outcome ?? 'running'}, ${countText(run.provisioned)} made`
  return { value: `${spanText(Math.round(ageSeconds))} ago`, note }
}

function publishing(outbox: Summary['outbox']) {
  const href = '/deck/outbox'
  if (outbox.backlog === null) {
    const note = 'behind, of the slot that Debezium reads'
    return { name: 'Publish lag', value: `${countText(outbox.slotLagBytes ?? 0)} B`, note, href }
  }
  const waits = `${countText(outbox.backlog)} waiting, ${countText(outbox.parked)} parked`
  const value = outbox.backlog === 0 ? '–' : spanText(outbox.publishLagSeconds ?? 0)
  return {
    ...{ name: 'Publish lag', value, note: waits, href },
    ...(outbox.parked > 0 && { tone: 'bad' as const }),
  }
}
