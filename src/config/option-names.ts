/** Names that are no option: a fault where the prefix is ours, a warning where one is nearly hit. */

import { optionList } from './options.js'
import { fileNameOf, setIn, type Environment, type Fault } from './read-options.js'

/** Nobody else's names start so, hence an unknown one is a slip that would go unseen. */
const ownPrefixes = ['CHAT_PROVISION_RETRY_', 'OUTBOX_', 'DECK_', 'CHOKAQ_', 'INTAKE_']

/** Two slips of the finger in a name; at three, other programs' names come into reach. */
const nearMiss = 2

const names = optionList.map(([name]) => name as string)
const known = [...names, ...names.map(fileNameOf).filter((name) => name !== undefined)]

export function unknownNames(env: Environment): Fault[] {
  return unknownIn(env).flatMap((name) => {
    const stem = name.replace(/_FILE$/, '')
    if (stem.endsWith('_FILE') && known.includes(stem)) {
      return [`${name} is not an option: ${stem} is the path of a file already`]
    }
    const prefix = ownPrefixes.find((candidate) => name.startsWith(candidate))
    return prefix === undefined ? [] : [`${name} is not an option${suggestion(name, prefix)}`]
  })
}

/** Other programs have names too, so these don't stop the start. */
export function nearMisses(env: Environment): string[] {
  return unknownIn(env).flatMap((name) => {
    if (ownPrefixes.some((prefix) => name.startsWith(prefix))) return []
    const [nearest, distance] = closest(name.toUpperCase(), known)
    // Whoever has set the right one too means something else by this.
    if (distance > nearMiss || setIn(env, nearest) !== undefined) return []
    return [`${name} is not an option and is ignored; did you mean ${nearest}?`]
  })
}

function unknownIn(env: Environment): string[] {
  return Object.keys(env).filter((name) => !known.includes(name) && setIn(env, name) !== undefined)
}

function suggestion(name: string, prefix: string): string {
  const [nearest, distance] = closest(name, known)
  // A third of the part after the prefix wrong is still the same word, more is another one.
  if (distance <= Math.max(nearMiss, (name.length - prefix.length) / 3)) {
    return `; did you mean ${nearest}?`
  }
  const siblings = names.filter((candidate) => candidate.startsWith(prefix))
  return `; allowed are ${siblings.join(', ')}`
}

function closest(name: string, candidates: readonly string[]): readonly [string, number] {
  return candidates
    .map((candidate) => [candidate, editDistance(name, candidate)] as const)
    .reduce((best, next) => (next[1] < best[1] ? next : best))
}

/** Insertions, deletions and substitutions from one to the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, character] of Array.from(from).entries()) {
    const next = [index + 1]
    for (const [column, wanted] of Array.from(to).entries()) {
      const substituted = cell(row, column) + (character === wanted ? 0 : 1)
      next.push(Math.min(cell(row, column + 1) + 1, cell(next, column) + 1, substituted))
    }
    row = next
  }
  return cell(row, to.length)
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
