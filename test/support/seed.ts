/**
 * Where chance begins in a test. The same in each run, so that what a run tells is of the change it
 * tests and not of its luck; `NAME=random` looks for what nobody thought of, `NAME=<number>` repeats it.
 */

import { randomInt } from 'node:crypto'
import process from 'node:process'

export function seedOf(name: 'PROPERTY_SEED' | 'MODEL_SEED' | 'CHAOS_SEED'): number {
  const text = process.env[name] ?? '1'
  if (text === 'random') return randomInt(2 ** 31)
  const seed = Number(text)
  if (!Number.isSafeInteger(seed))
    throw new Error(`${name} must be a whole number or random: ${text}`)
  return seed
}
