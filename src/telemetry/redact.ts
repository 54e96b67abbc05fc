/**
 * Keeps personal data and secrets out of the log. Two nets, because neither alone is enough:
 * fields are dropped by their names, wherever they are nested, and text is searched for the shapes
 * that secrets have, since a driver's message may quote the connection string it was given.
 */

export const redacted = '[redacted]'

/** Lower case without separators, so that `readToken`, `READ_TOKEN` and `read-token` are one. */
const secretFields = new Set([
  'title',
  'members',
  'connectionstring',
  'databaseurl',
  'lockdatabaseurl',
  'lockurl',
  'token',
  'readtoken',
  'admintoken',
  'deckreadtoken',
  'deckadmintoken',
  'password',
  'kafkasaslpassword',
  'secret',
  'authorization',
  'cookie',
  'setcookie',
])

/** Names that were looked at before; a log has few, and what somebody nests in it may have any. */
const known = new Map<string, boolean>()
const knownAtMost = 1_000

export function isSecretField(name: string): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  const secret = secretFields.has(name.replace(/[-_\s]/g, '').toLowerCase())
  if (known.size < knownAtMost) known.set(name, secret)
  return secret
}

/** Greedy up to white space: a password may hold quotes, and too much hidden is the lesser harm. */
const textPatterns = secretPatterns(String.raw`\S`)
/** Inside a line of JSON it must not run over the closing quote; an escaped one is part of it. */
const jsonPatterns = secretPatterns(String.raw`(?:[^\s"\\]|\\.)`)

function secretPatterns(character: string): readonly (readonly [RegExp, string])[] {
  return [
    [new RegExp(String.raw`\bpostgres(?:ql)?://${character}+`, 'gi'), redacted],
    // Credentials of any other URL.
    [new RegExp(String.raw`\b([a-z][a-z0-9+.-]*://)[^\s"\\/@]+@`, 'gi'), `$1${redacted}@`],
    // libpq's `password=…`, a token in a query, a header's `Bearer …`.
    [
      new RegExp(String.raw`\b((?:password|passwd|token|secret)=|Bearer )${character}+`, 'gi'),
      `$1${redacted}`,
    ],
  ]
}

export function redactText(text: string): string {
  return replaceAll(text, textPatterns)
}

/** For a finished line of JSON, which stays JSON. */
export function redactJsonLine(line: string): string {
  return replaceAll(line, jsonPatterns)
}

/** What each of the patterns needs; nearly all lines have none of it, and one look is all that they cost. */
const suspicious = /:\/\/|=|bearer /i

function replaceAll(text: string, patterns: typeof textPatterns): string {
  if (!suspicious.test(text)) return text
  return patterns.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text)
}
