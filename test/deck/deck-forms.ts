/** Forms of The Deck as a browser sends them, without a browser. */

import { beforeAll } from 'vitest'
import { adminToken, type ServedDeck } from './deck-fixtures.js'

export interface Sent {
  readonly cookie?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A form as a browser sends it. */
export function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  { cookie = '', headers = {} }: Sent = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, ...headers },
    body: new URLSearchParams(fields),
  })
}

export function cookieOf(response: Response, name: string): string {
  const set = response.headers.getSetCookie().find((text) => text.startsWith(`${name}=`))
  return set?.split(';', 1)[0] ?? ''
}

export async function session(
  deck: ServedDeck,
  token = adminToken,
  name = 'anna',
): Promise<string> {
  return cookieOf(await post(deck.url('/login'), { token, name }), 'deck_session')
}

export async function formToken(deck: ServedDeck, path: string, cookie: string): Promise<string> {
  const html = await (await fetch(deck.url(path), { headers: { cookie } })).text()
  return /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? ''
}

export interface OpenForm {
  /** Where it is sent to. */
  readonly url: string
  /** The address of its page, after any redirect. */
  readonly page: string
  /** What it holds before anybody types, by name; of several the last. */
  readonly fields: Readonly<Record<string, string>>
}

async function openForm(deck: ServedDeck, path: string, cookie: string): Promise<OpenForm> {
  const response = await fetch(deck.url(path), { headers: { cookie } })
  const main = (await response.text()).split('<main')[1] ?? ''
  const text = (escaped: string): string =>
    escaped.replaceAll('&#34;', '"').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const fields: Record<string, string> = {}
  for (const pattern of [inputField, textField]) {
    for (const [, name = '', value = ''] of main.matchAll(pattern)) fields[name] = text(value)
  }
  const url = new URL(/method="post" action="([^"]+)"/.exec(main)?.[1] ?? 'no form', response.url)
  return { url: url.href, page: response.url, fields }
}

export interface Session {
  readonly cookie: () => string
  /** The form of an action's page. */
  readonly openForm: (path: string) => Promise<OpenForm>
  readonly post: (
    url: string,
    fields: Readonly<Record<string, string>>,
    headers?: Sent['headers'],
  ) => Promise<Response>
}

/** Logs in before the tests around; by the returned session they ask and send inside. */
export function useSession(deck: () => ServedDeck): Session {
  let cookie = ''
  beforeAll(async () => {
    cookie = await session(deck())
  })
  return {
    cookie: () => cookie,
    openForm: (path) => openForm(deck(), path, cookie),
    post: (url, fields, headers = {}) => post(url, fields, { cookie, headers }),
  }
}

const inputField = /type="(?:hidden|text)" name="([^"]+)" value="([^"]*)"/g
const textField = /<textarea [^>]*name="([^"]+)"[^>]*>([^<]*)</g
