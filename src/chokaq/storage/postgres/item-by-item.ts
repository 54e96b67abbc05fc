/**
 * Batches in which one item can't spoil the others: all in one statement as a rule, and one by one where
 * the database has refused the statement on account of some item.
 */

import type { Refused } from '../worker-port.js'

/**
 * SQLSTATE classes that speak of the row: data exceptions, constraints, what triggers and functions
 * raise, limits of size. All else (connection, resources, shutdown, deadlock) is thrown on.
 */
const refusals = /^(22|23|27|44|54|P0)[0-9A-Z]{3}$/

export function isRefusal(error: unknown): boolean {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error && error.code
  return typeof code === 'string' && refusals.test(code)
}

/** The answers of `move` in the order of the items; an item that is refused alone is answered so. */
export async function moveEach<I, R extends { readonly outcome: string }>(
  items: readonly I[],
  move: (items: readonly I[]) => Promise<readonly R[]>,
): Promise<readonly (R | Refused)[]> {
  if (items.length === 0) return []
  try {
    return await move(items)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (items.length === 1) return [{ outcome: 'refused', error }]
    const answers: (R | Refused)[] = []
    for (const item of items) answers.push(...(await moveEach([item], move)))
    return answers
  }
}
