/** Is it fine? One sentence from the figures, and what speaks against it. */

import type { Config } from '../../config/config.js'
import type { Summary } from '../api/schemas/action-answers.js'
import { ofThem, spanText } from './parts/text.js'

export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly sentence: string
  /** Worst first; a path below /deck where it can be seen or mended. */
  readonly findings: readonly Finding[]
}

export interface Finding {
  readonly tone: 'warn' | 'bad'
  readonly text: string
  readonly href?: string
}

/** As the alert: events that wait for longer point at the relay or the broker. */
const lagAllowedSeconds = 60

/**
 * @param reasons what /readyz says
 * @param nowMs the host's clock, milliseconds since 1970
 */
export function verdictOf(
  summary: Summary,
  reasons: readonly string[],
  { retry }: Pick<Config, 'retry'>,
  nowMs: number,
): Verdict {
  const findings = [
    ...ofLook(summary),
    ...reasons.map((text): Finding => ({ tone: 'bad', text })),
    ...ofProvisions(summary),
    ...ofOutbox(summary),
    ...ofIntake(summary),
    ...ofRuns(summary, retry, nowMs),
    ...ofJobs(summary),
  ]
  const worst = findings.filter(({ tone }) => tone === 'bad')
  const { backlog } = summary.provisions
  if (worst.length > 0) {
    const others = findings.filter(({ tone }) => tone !== 'bad')
    const sentence = `${needSomebody(worst.length)}${worthALook(others.length)}.`
    return { tone: 'bad', sentence, findings: [...worst, ...others] }
  }
  if (findings.length > 0) {
    return { tone: 'warn', sentence: 'It works, and is worth a look.', findings }
  }
  const sentence =
    backlog === 0
      ? 'All is well: every deal has its chat, or is getting it.'
      : `All is well: ${ofThem(backlog, 'deal')} will be tried again by themselves.`
  return { tone: 'good', sentence, findings }
}

function needSomebody(things: number): string {
  return things === 1 ? 'One thing needs somebody' : `${String(things)} things need somebody`
}

/** They are listed too, and who counts what is listed must come to the same. */
function worthALook(more: number): string {
  if (more === 0) return ''
  return more === 1
    ? ', and one more is worth a look'
    : `, and ${String(more)} more are worth a look`
}

function ofLook({ isCurrent, ageSeconds }: Summary): readonly Finding[] {
  if (isCurrent) return []
  const text = `The database doesn't answer: these figures are of ${spanText(ageSeconds)} ago.`
  return [{ tone: 'bad', text }]
}

function ofProvisions({ provisions }: Summary): readonly Finding[] {
  if (provisions.poison === 0) return []
  const text = `${ofThem(provisions.poison, 'deal')} out of attempts: mend the cause, then re-enqueue.`
  return [{ tone: 'bad', text, href: '/deck/provisions?state=poison' }]
}

function ofOutbox({ outbox }: Summary): readonly Finding[] {
  const findings: Finding[] = []
  if (outbox.parked > 0) {
    const text = `${ofThem(outbox.parked, 'event')} parked: crm does not know of ${outbox.parked === 1 ? 'it' : 'them'}.`
    findings.push({ tone: 'bad', text, href: '/deck/outbox?state=parked' })
  }
  const lag = outbox.publishLagSeconds ?? 0
  if (lag > lagAllowedSeconds) {
    const text = `The oldest event has waited for ${spanText(lag)} to be published.`
    findings.push({ tone: 'warn', text, href: '/deck/outbox?state=pending' })
  }
  return findings
}

function ofIntake({ intake }: Summary): readonly Finding[] {
  if (intake.parked === 0) return []
  const theirs = intake.parked === 1 ? 'its deal has' : 'their deals have'
  const text = `${ofThem(intake.parked, 'message')} of crm set aside: ${theirs} no chat.`
  return [{ tone: 'bad', text, href: '/deck/intake' }]
}

function ofRuns(
  { lastRun }: Summary,
  { pollingIntervalMs, maxRunDurationMs }: Config['retry'],
  nowMs: number,
): readonly Finding[] {
  const href = '/deck/runs'
  if (lastRun === null) return [{ tone: 'warn', text: 'No cycle has run yet.', href }]
  const ageMs = nowMs - Date.parse(lastRun.startedAt)
  if (ageMs > 2 * pollingIntervalMs + maxRunDurationMs) {
    return [{ tone: 'bad', text: `No cycle for ${spanText(ageMs / 1_000)}.`, href }]
  }
  if (lastRun.outcome === 'aborted') {
    return [{ tone: 'warn', text: `The last cycle ended early: ${lastRun.reason ?? ''}`, href }]
  }
  return []
}

function ofJobs({ jobs }: Summary): readonly Finding[] {
  const findings: Finding[] = []
  if (jobs.dead > 0) {
    const text = `${ofThem(jobs.dead, 'job')} dead: look why, then resurrect or leave.`
    findings.push({ tone: 'warn', text, href: '/deck/jobs?place=dlq' })
  }
  if (jobs.queuesPaused > 0) {
    const text = `${ofThem(jobs.queuesPaused, 'queue')} paused.`
    findings.push({ tone: 'warn', text, href: '/deck/queues' })
  }
  return findings
}
