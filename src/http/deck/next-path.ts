/** Where a login leads to: the page that was asked for, and never away from The Deck. */

const home = '/deck'

export function loginHref(next: string): string {
  const path = safeNext(next)
  return path === home
    ? '/deck/login'
    : `/deck/login?${new URLSearchParams({ next: path }).toString()}`
}

/** The path and query of a page of The Deck; its first page for whatever else was given. */
export function safeNext(text: string | undefined): string {
  const base = 'http://deck.invalid'
  // Backslashes and control characters are what makes parsers differ; no path of ours has any.
  if (text === undefined || !/^\/deck[\x21-\x7e]*$/.test(text) || text.includes('\\')) return home
  if (!URL.canParse(text, base)) return home
  const { origin, pathname, search } = new URL(text, base)
  if (origin !== base || !/^\/deck(\/|$)/.test(pathname)) return home
  return /^\/deck\/log(in|out)$/.test(pathname) ? home : `${pathname}${search}`
}
