/** Kinds of values that name something elsewhere: a database, a broker, a topic, a queue, a proxy. */

import { isIP } from 'node:net'
import { parseDuration, maxDurationMs } from './duration.js'
import type { QueueOptions } from './config.js'
import { listOf, matching, wholeNumber, type Kind } from './value-kinds.js'

export const databaseUrl: Kind<string> = {
  allowed:
    'a URL such as postgres://user:password@host:5432/database, special characters percent-encoded',
  parse: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
}

const port = wholeNumber(1, 65_535)

/** kafkajs cuts at the first colon, so an IPv6 address can't be written. */
const broker: Kind<string> = {
  allowed: 'host:port',
  parse: (text) => {
    const [, host, portText] = /^([A-Za-z0-9._-]+):(\d+)$/.exec(text) ?? []
    if (host === undefined || portText === undefined) return undefined
    return port.parse(portText) === undefined ? undefined : text
  },
}

export const brokerList = listOf(
  broker,
  'host:port, several separated by commas, each host a name or an IPv4 address',
)

/** Not all of a family (/0): anybody could then say to be anybody. */
const network: Kind<string> = {
  allowed: 'an IP address or network',
  parse: (text) => {
    const [, address = '', length] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
    const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
    const prefix = length === undefined ? bits : Number(length)
    return prefix >= 1 && prefix <= bits ? text : undefined
  },
}

export const networkList = listOf(
  network,
  'IP addresses or networks such as 10.0.0.0/8, several separated by commas',
)

/** What the broker allows: it refuses the names `.` and `..` too. */
export const topic = matching(
  /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/,
  'a topic name: letters, digits, ".", "_" and "-", at most 249 characters',
)

/** More than this in one queue would be more than any instance's CHOKAQ_CONCURRENCY could use. */
const maxWorkers = wholeNumber(1, 10_000)

const queueSyntax = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?::(.+))?$/

export const queueList: Kind<readonly QueueOptions[]> = {
  allowed:
    'queues like reports:maxWorkers=3,zombieTimeout=40m separated by ";" ' +
    '(maxWorkers from 1 to 10000, zombieTimeout a duration; no queue and no setting twice)',
  parse: (text) => {
    const parts = text.split(';').map((part) => part.trim())
    // The one empty part that a closing semicolon leaves.
    if (parts.at(-1) === '') parts.pop()
    const queues = parts.map(parseQueue).filter((queue) => queue !== undefined)
    const isSound =
      parts.length > 0 &&
      queues.length === parts.length &&
      new Set(queues.map(({ name }) => name)).size === parts.length
    return isSound ? queues : undefined
  },
}

function parseQueue(text: string): QueueOptions | undefined {
  const [, name, settings] = queueSyntax.exec(text) ?? []
  if (name === undefined) return undefined
  const queue = { name, maxWorkers: undefined, zombieTimeoutMs: undefined } as {
    -readonly [K in keyof QueueOptions]: QueueOptions[K]
  }
  for (const setting of settings?.split(',') ?? []) {
    const [, key, value] = /^\s*(\w+)=(\w+)\s*$/.exec(setting) ?? []
    if (value === undefined) return undefined
    if (key === 'maxWorkers' && queue.maxWorkers === undefined) {
      queue.maxWorkers = maxWorkers.parse(value)
      if (queue.maxWorkers === undefined) return undefined
    } else if (key === 'zombieTimeout' && queue.zombieTimeoutMs === undefined) {
      const timeoutMs = parseDuration(value) ?? 0
      if (timeoutMs < 1 || timeoutMs > maxDurationMs) return undefined
      queue.zombieTimeoutMs = timeoutMs
    } else {
      return undefined
    }
  }
  return queue
}
