/** The findings for a terminal, within 80 columns: what was found, and under it what to do. Pure. */

import type { Finding, FindingStatus } from './finding.js'

const width = 80
const words: Record<FindingStatus, string> = {
  ok: 'ok',
  warning: 'warning',
  failed: 'FAILED',
  skipped: 'skipped',
}

export function reportLines(findings: readonly Finding[]): string[] {
  const names = Math.max(...findings.map(({ check }) => check.length))
  const states = Math.max(...Object.values(words).map(({ length }) => length))
  const room = width - names - states - 4
  const lines = findings.flatMap(({ check, status, found, mend }) => {
    const [first = '', ...rest] = wrap(found, room)
    const below = [...rest, ...(mend === null ? [] : wrap(`-> ${mend}`, room))]
    const head = `${check.padEnd(names)}  ${words[status].padEnd(states)}  ${first}`
    return [head, ...below.map((line) => ' '.repeat(names + states + 4) + line)]
  })
  return [...lines, '', summary(findings)]
}

function summary(findings: readonly Finding[]): string {
  const count = (status: FindingStatus): number =>
    findings.filter((finding) => finding.status === status).length
  return (
    `${count('ok')} in order, ${count('warning')} to look at, ${count('failed')} to mend, ` +
    `${count('skipped')} not looked at`
  )
}

/** At spaces and at the text's own ends of lines; a word longer than the room is cut. */
function wrap(text: string, room: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let line = ''
    for (const word of paragraph
      .trim()
      .split(/\s+/)
      .flatMap((word) => pieces(word, room))) {
      const longer = line === '' ? word : `${line} ${word}`
      if (longer.length <= room) line = longer
      else {
        lines.push(line)
        line = word
      }
    }
    return [...lines, line]
  })
}

function pieces(word: string, room: number): string[] {
  return word.match(new RegExp(`.{1,${room}}`, 'gsu')) ?? ['']
}
