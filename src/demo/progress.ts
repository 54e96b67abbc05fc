/** What one sees while the demo runs: a block that is painted over on a terminal, else plain lines. */

import type { CheckedDeal } from './check-deals.js'
import { maxAttempts } from './demo-deal.js'
import { count } from './result-table.js'

/** Elsewhere than on a terminal: a line at the most this often, and only when something changed. */
const plainIntervalMs = 2_000
const barWidth = 40

export interface Moment {
  readonly checked: readonly CheckedDeal[]
  /** That crm has read; undefined while there is nothing to read from. */
  readonly events: number | undefined
  readonly redelivered: number
  readonly cycles: number
  /** Where the events go, or that it is still being started. */
  readonly kafka: string
}

export interface Progress {
  /** A line that stays. */
  say(line: string): void
  show(moment: Moment): void
  /** Takes the block away. */
  clear(): void
}

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** @param now monotonic milliseconds, 0 at the start of the program */
export function createProgress(screen: Screen, now: () => number): Progress {
  return screen.isTTY === true ? onTerminal(screen, now) : inLines(screen, now)
}

function onTerminal(screen: Screen, now: () => number): Progress {
  let block: string[] = []
  const erase = (): string => {
    const up = block.length === 0 ? '' : `\u001b[${block.length}A`
    block = []
    return `${up}\r\u001b[J`
  }
  const paint = (lines: string[]): string => {
    const width = (screen.columns ?? 80) - 1
    block = lines.map((line) => line.slice(0, width))
    return block.map((line) => `${line}\n`).join('')
  }
  return {
    say(line) {
      const kept = block
      screen.write(`${erase()}${line}\n${paint(kept)}`)
    },
    show(moment) {
      screen.write(`${erase()}${paint(['', ...describe(moment, now()), ''])}`)
    },
    clear: () => void screen.write(erase()),
  }
}

function inLines(screen: Screen, now: () => number): Progress {
  let last = ''
  let lastAt = -plainIntervalMs
  return {
    say: (line) => void screen.write(`${line}\n`),
    show(moment) {
      const { line } = summary(moment)
      if (line === last || now() - lastAt < plainIntervalMs) return
      last = line
      lastAt = now()
      screen.write(`${seconds(now())}  ${line}\n`)
    },
    clear: () => undefined,
  }
}

function describe(moment: Moment, atMs: number): string[] {
  const { done, all, line } = summary(moment)
  const filled = Math.floor((barWidth * done) / all)
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
  return [
    `  ${bar}  ${done} of ${all} where they must end`,
    `  ${line}`,
    `  ${seconds(atMs)} · ${count(moment.cycles, 'cycle')} · events: ${moment.kafka}`,
  ]
}

function summary({ checked, events, redelivered }: Moment): {
  done: number
  all: number
  line: string
} {
  // What was fed as Ready is none of the worker's doing.
  const looks = checked.flatMap(({ deal, look }) =>
    look === undefined || (deal.expected.untouched && look.status === 'Ready') ? [] : [look],
  )
  const ready = looks.filter(({ status }) => status === 'Ready').length
  const spent = looks.filter(isPoison).length
  const counts = [
    `Ready ${ready}`,
    `to be tried ${looks.length - ready - spent}`,
    `out of attempts ${spent}`,
    ...(events === undefined
      ? []
      : [`crm saw ${count(events, 'event')}` + (redelivered > 0 ? `, ${redelivered} twice` : '')]),
  ]
  const done = checked.filter(({ faults }) => faults.length === 0).length
  return { done, all: checked.length, line: counts.join(' · ') }
}

function isPoison({ status, attempts }: { status: string; attempts: number }): boolean {
  return status === 'Failed' && attempts >= maxAttempts
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`.padStart(7)
}
