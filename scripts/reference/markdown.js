/** Markdown's tables. */

/** Cells are text already marked up; undefined and '' show as a dash. */
export function table(columns, rows) {
  const lines = [columns, columns.map(() => '---'), ...rows.map((row) => row.map(cell))]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export function code(text) {
  return `\`${text}\``
}

function cell(text) {
  return (text || '–').replaceAll('|', '\\|').replaceAll('\n', ' ')
}
