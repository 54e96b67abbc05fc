/** Asks before a command changes much. */

import { createInterface } from 'node:readline/promises'
import { AppError } from '../errors.js'

/** One deal is what an operator typed; a slip of the filter shows itself from a handful on. */
const askAbove = 10

/**
 * Returns if the operator agrees, or if there is little to ask about.
 *
 * @param noun of what is counted, such as `deal`
 * @throws AppError USAGE where there is no terminal to ask on, or the answer is no
 */
export async function confirmMany(count: number, verb: string, noun: string): Promise<void> {
  if (count <= askAbove) return
  if (!process.stdin.isTTY) {
    throw new AppError('USAGE', `This would ${verb} ${count} ${noun}s. Add --yes if that is meant.`)
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(
      `This will ${verb} ${count} ${noun}s. Type the number to go on: `,
    )
    if (answer.trim() !== String(count))
      throw new AppError('USAGE', 'Not confirmed; nothing changed.')
  } finally {
    terminal.close()
  }
}
