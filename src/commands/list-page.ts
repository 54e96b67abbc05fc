/** How every list is printed: a JSON array or a table, and how to see what comes after it. */

import type { Page } from '../operations/page.js'
import type { OutputOptions } from './operator-options.js'
import { printJson, printLine, printTable } from './output.js'

interface ListTable<T> {
  readonly columns: readonly string[]
  /** Columns that are no use cut. */
  readonly whole: readonly string[]
  readonly row: (item: T) => readonly unknown[]
  /** Said where there is nothing. */
  readonly empty: string
}

export async function printPage<T>(
  page: Page<T>,
  options: OutputOptions,
  { columns, whole, row, empty }: ListTable<T>,
): Promise<void> {
  if (options.json) await printJson(page.items)
  else if (page.items.length === 0) await printLine(empty)
  else await printTable(columns, page.items.map(row), whole)
  // Not on stdout, which is for data.
  if (page.nextCursor !== null)
    process.stderr.write(`There is more: add --cursor ${page.nextCursor}\n`)
}
