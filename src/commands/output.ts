/** What commands print: data on stdout, as JSON or as lines for a terminal. */

/** Writes one line and waits until a slow reader has taken it. */
export function printLine(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()))
  })
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

export function printTable(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  return printLine(tableLines(columns, rows).join('\n'))
}

/** A table's lines, the header first; columns are as wide as their widest cell. */
export function tableLines(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): string[] {
  const cells = [columns, ...rows].map((row) => row.map(cellText))
  const widths = columns.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  )
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}
