/** Makes a table's columns fit a width, counting the columns that characters take on a terminal. */

export interface TableFit {
  /** Columns of the terminal; undefined: as wide as the table is. */
  readonly width?: number | undefined
  /** Names, in the first row, of the columns that are not cut. */
  readonly whole?: readonly string[]
}

const gap = 2

/** Below this a cell says nothing any more. */
const narrowest = 5

/** Every cell padded, or cut with …, to its column's width. */
export function fitCells(
  cells: readonly (readonly string[])[],
  { width, whole = [] }: TableFit,
): string[][] {
  const names = cells[0] ?? []
  const widths = names.map((_, column) =>
    Math.max(...cells.map((row) => displayWidth(row[column] ?? ''))),
  )
  if (width !== undefined) {
    const mayShrink = names.map((name) => !whole.includes(name))
    const room = width - gap * (names.length - 1)
    while (sum(widths) > room) {
      const widest = indexOfWidest(widths, mayShrink)
      if (widest === undefined) break
      widths[widest] = (widths[widest] ?? 0) - 1
    }
  }
  return cells.map((row) => row.map((cell, column) => fit(cell, widths[column] ?? 0)))
}

function indexOfWidest(
  widths: readonly number[],
  mayShrink: readonly boolean[],
): number | undefined {
  const able = widths.map((width, index) => (mayShrink[index] === true ? width : 0))
  const most = Math.max(...able)
  return most > narrowest ? able.indexOf(most) : undefined
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}

function fit(text: string, width: number): string {
  const own = displayWidth(text)
  if (own <= width) return text + ' '.repeat(width - own)
  let cut = ''
  let taken = 0
  for (const character of text) {
    const next = taken + displayWidth(character)
    if (next > width - 1) break
    cut += character
    taken = next
  }
  return `${cut}…${' '.repeat(width - taken - 1)}`
}

/** Ideographs and emoji take two columns of a terminal, combining marks none. */
function displayWidth(text: string): number {
  let width = 0
  for (const character of text) {
    if (/\p{Mark}|\p{Default_Ignorable_Code_Point}/u.test(character)) continue
    width +=
      /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}|[\u3000-\u30ff\uff00-\uff60]/u.test(
        character,
      )
        ? 2
        : 1
  }
  return width
}
