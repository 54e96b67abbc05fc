/**
 * An array as PostgreSQL writes it, for a parameter: pg's own way costs several times as much for each
 * element, and a batch has thousands.
 */

export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(element).join(',')}}`
}

function element(value: string | number | boolean | null): string {
  if (value === null) return 'NULL'
  // Always in quotes: NULL, the empty text, braces and commas mean something without.
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value)
}
