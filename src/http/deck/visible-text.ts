/**
 * What strangers have typed shows as what it is: characters that have no shape, or would turn the direction
 * of what stands beside them, are shown by their number, and a run of text that goes from right to left
 * is kept to itself. Done to the page as a whole, so that no page can forget it.
 *
 * What a form would send back stays as it is.
 */

/** Joiners are part of how some languages are written. */
const hidden = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const rightToLeft =
  '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
const run = new RegExp(`[${rightToLeft}](?:[^<>&\\n]*[${rightToLeft}])?`, 'gu')

/** Elements that hold bare text; a tag with its attributes; text. */
const part =
  /(<(textarea|title|option|script)\b[^>]*>[\s\S]*?<\/\2>)|(<[^<>"]*(?:"[^"]*"[^<>"]*)*>)|([^<]+)/g
const spokenAttribute = / (?:title|aria-label)="[^"]*"/g

/** @param html as rendered: each text in it is escaped, and so is each quote in an attribute */
export function makeVisible(html: string): string {
  if (html.search(hidden) < 0 && html.search(run) < 0) return html
  return html.replace(part, (all: string, ...groups: (string | undefined)[]) => {
    const [, name, tag, text] = groups
    if (text !== undefined) return text.replace(hidden, numberOf).replace(run, '<bdi>$&</bdi>')
    if (tag !== undefined) return tag.replace(spokenAttribute, (it) => it.replace(hidden, numberOf))
    return name === 'title' ? all.replace(hidden, numberOf) : all
  })
}

/** `[U+202E]` */
function numberOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
  return `[U+${hex.padStart(4, '0')}]`
}
