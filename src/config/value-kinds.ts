/** The kinds of values that options have: what is allowed, in words, and the parser that holds to it. */

import { maxDurationMs, maxTimerMs, parseDuration } from './duration.js'

export interface Kind<T> {
  /** Completes "NAME must be …". */
  readonly allowed: string
  /** Undefined where the text is not allowed. */
  readonly parse: (text: string) => T | undefined
}

/** Integer columns of the database end here. */
export const maxInteger = 2 ** 31 - 1

export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse: (text) => (/^\d+$/.test(text) ? within(Number(text), min, max) : undefined),
  }
}

export function decimal(min: number, max: number): Kind<number> {
  return {
    allowed: `a number from ${min} to ${max}`,
    parse: (text) => (/^\d+(\.\d+)?$/.test(text) ? within(Number(text), min, max) : undefined),
  }
}

const durationExamples = 'a duration above 0 such as 500ms, 60s, 5m, 2h or 30d'

/** For what is waited for or set as a timeout, so within what one timer can wait. */
export const duration: Kind<number> = {
  allowed: `${durationExamples}, at most 24d`,
  parse: (text) => within(parseDuration(text), 1, maxTimerMs),
}

/** For what only the database reckons with, and for the one interval that is waited for in steps. */
export const longDuration: Kind<number> = {
  allowed: `${durationExamples}, at most 36500d`,
  parse: (text) => within(parseDuration(text), 1, maxDurationMs),
}

/** For memories that a day's work rests on. */
export const atLeastADay: Kind<number> = {
  allowed: 'a duration from 1d, such as 7d or 30d, to 36500d',
  parse: (text) => within(parseDuration(text), 86_400_000, maxDurationMs),
}

export const flag: Kind<boolean> = {
  allowed: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return {
    allowed: `one of ${values.join(', ')}`,
    parse: (text) => values.find((value) => value === text),
  }
}

/** The pattern must take in the whole text. */
export function matching(pattern: RegExp, allowed: string): Kind<string> {
  return { allowed, parse: (text) => (pattern.test(text) ? text : undefined) }
}

/** Separated by commas, white space around them ignored; none may be empty or come twice. */
export function listOf<T>(item: Kind<T>, allowed: string): Kind<readonly T[]> {
  return {
    allowed,
    parse: (text) => {
      const texts = text.split(',').map((part) => part.trim())
      const values = texts.map((part) => item.parse(part)).filter((value) => value !== undefined)
      const isSound = values.length === texts.length && new Set(texts).size === texts.length
      return isSound ? values : undefined
    },
  }
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined
}
