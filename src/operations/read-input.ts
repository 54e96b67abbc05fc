/** Checks of what an operator gives, the same for the command line, the API and jobs. */

import { AppError } from '../errors.js'

/** Longer ones are somebody's file by mistake; an error is for reading. */
const quotedAtMost = 80
/** A few tell what went wrong. */
const listedAtMost = 5

/** What was given, as an error repeats it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > quotedAtMost ? `${text.slice(0, quotedAtMost)}…` : text)
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * @param what such as 'a deal id'
 * @returns the id in lower case
 * @throws AppError INPUT_INVALID
 */
export function readUuid(what: string, text: string): string {
  if (uuidPattern.test(text)) return text.toLowerCase()
  throw new AppError(
    'INPUT_INVALID',
    `Not ${what}: ${quoted(text)}. It looks like 0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00.`,
  )
}

/** Without repetitions. @throws AppError INPUT_INVALID that names the first that are wrong */
export function readUuids(what: string, texts: readonly string[]): readonly string[] {
  const wrong = texts.filter((text) => !uuidPattern.test(text))
  if (wrong.length > 0) {
    throw new AppError(
      'INPUT_INVALID',
      `Not ${what}: ${wrong.slice(0, listedAtMost).map(quoted).join(', ')}. ` +
        'It looks like 0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00.',
    )
  }
  return [...new Set(texts.map((text) => text.toLowerCase()))]
}

/** Who orders a change and why, as the audit keeps it. */
export interface Order {
  readonly by: string
  readonly reason: string
  /** No other command ever has these words, for they name the job that carries it out. */
  readonly isOfOneCommand?: true
  /** As carryOutOnce has it: what this very request has done already is not done by it again. */
  readonly requestId?: string
}

/**
 * @param marks what the names have where they were given: '--' for options, else they are quoted
 * @throws AppError INPUT_INVALID where one is missing, blank, too long or not readable text
 */
export function readOrder(
  input: { by?: string | undefined; reason?: string | undefined },
  marks: '--' | '"' = '"',
): Order {
  return { by: readText('by', input.by, marks), reason: readText('reason', input.reason, marks) }
}

/** A reason is for a sentence or two. */
export const longestReason = 1_000

/** A name is for a column of a table. */
const orderTexts = {
  by: { means: 'who does it', longest: 100 },
  /** Of a filter. */
  actor: { means: 'who did it', longest: 100 },
  reason: { means: 'why', longest: longestReason },
}

/** Something that shows on paper. */
const visible = /[^\p{C}\p{Z}]/u
/**
 * Control characters could not be stored (U+0000) or would steer the terminal of who reads them, as those
 * that turn the direction of writing would; half a surrogate pair would be stored as another character.
 */
const misleading = /[\p{Control}\p{Surrogate}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** One line of text. @throws AppError INPUT_INVALID */
export function readText(
  name: keyof typeof orderTexts,
  text = '',
  marks: '--' | '"' = '"',
): string {
  const { means, longest } = orderTexts[name]
  const line = text.replace(/\s+/g, ' ').trim()
  if (visible.test(line) && line.length <= longest && !misleading.test(line)) return line
  throw new AppError(
    'INPUT_INVALID',
    `${marks === '--' ? `--${name}` : `"${name}"`} must say ${means}, in 1 to ${longest} characters; the audit keeps it.`,
  )
}
