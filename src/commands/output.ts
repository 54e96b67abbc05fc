/** What commands print: data on stdout, as JSON or as lines for a terminal. */

import { AppError } from '../errors.js'
import { fitCells, type TableFit } from './fit-cells.js'

/**
 * Writes one line and waits until a slow reader has taken it. A reader that has gone away, as `| head`
 * does, has seen enough.
 *
 * @throws AppError OUTPUT_UNWRITABLE, for example where a disk is full
 */
export async function printLine(line: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()))
    })
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'EPIPE') return
    const why = typeof code === 'string' ? code : String(error)
    throw new AppError(
      'OUTPUT_UNWRITABLE',
      `standard output can not be written (${why}). What the command has done stands.`,
      { cause: error },
    )
  }
}

export function printJson(value: unknown): Promise<void> {
  return printLine(JSON.stringify(value))
}

/** One `name  value` line each, the values in one column. */
export function printFields(fields: Readonly<Record<string, unknown>>): Promise<void> {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`,
  )
  return printLine(lines.join('\n'))
}

/**
 * A table no wider than the terminal: the widest columns are cut, never a line wrapped. A file or a
 * pipe gets all of it.
 *
 * @param whole names of columns that are no use cut, such as ids
 */
export function printTable(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  whole: readonly string[] = [],
): Promise<void> {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined
  return printLine(tableLines(columns, rows, { width, whole }).join('\n'))
}

/** A table's lines, the header first; columns are as wide as their widest cell, or as fits. */
export function tableLines(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  fit: TableFit = {},
): string[] {
  const cells = [columns, ...rows].map((row) => row.map(cellText))
  return fitCells(cells, fit).map((row) => row.join('  ').trimEnd())
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? harmless(value) : JSON.stringify(value)
}

/** What was stored may break a line, or steer the terminal. */
function harmless(text: string): string {
  return text.replace(/\p{Control}/gu, (control) => `\\x${hex(control)}`)
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0')
}
