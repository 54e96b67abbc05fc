/**
 * Every option, once: the parser, the README's table and the settings page all read this table.
 * Names and defaults are promises.
 */

import { databaseUrl, networkList } from './addresses.js'
import { messagingOptions } from './messaging-options.js'
import { attempts, batch, type Option, type OptionGroup } from './option.js'
import {
  decimal,
  duration,
  listOf,
  longDuration,
  matching,
  oneOf,
  wholeNumber,
  type Kind,
} from './value-kinds.js'

const role = matching(/^\S{1,32}$/, 'a role')
/** It travels in a header, so only what a header can carry. */
const token = matching(/^[\x21-\x7e]+$/, 'printable ASCII characters without white space')

export const options = {
  DATABASE_URL: {
    kind: databaseUrl,
    about: 'The database that holds schema messenger. Required.',
    secret: true,
    need: 'database',
  },
  LOCK_DATABASE_URL: {
    kind: databaseUrl,
    about:
      'For the locks: a session, not a pooled transaction. Direct address where DATABASE_URL is a pooler.',
    shownDefault: 'DATABASE_URL',
    secret: true,
    need: 'database',
  },
  CHAT_PROVISION_RETRY_POLLING_INTERVAL: {
    kind: longDuration,
    default: '60s',
    about: 'From the start of one cycle to the next.',
  },
  CHAT_PROVISION_RETRY_BATCH_SIZE: {
    kind: batch,
    default: '100',
    about: 'Candidates read at a time.',
  },
  CHAT_PROVISION_RETRY_MAX_ATTEMPTS: {
    kind: attempts,
    default: '10',
    about: 'Runs until a row is poison.',
  },
  CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: {
    kind: longDuration,
    default: '5m',
    about: 'A row in Provisioning, unchanged for so long, hangs.',
  },
  CHAT_PROVISION_RETRY_BACKOFF_BASE: {
    kind: longDuration,
    default: '1m',
    about: 'Wait before the second run.',
  },
  CHAT_PROVISION_RETRY_BACKOFF_FACTOR: {
    kind: decimal(1, Number.MAX_VALUE),
    default: '2.0',
    about: 'Each further wait is so many times longer.',
  },
  CHAT_PROVISION_RETRY_BACKOFF_CAP: {
    kind: longDuration,
    default: '15m',
    about: 'Longest wait; at least the base.',
  },
  CHAT_PROVISION_RETRY_BACKOFF_JITTER: {
    kind: decimal(0, 1),
    default: '0.2',
    about: 'Share of a wait that chance may take away.',
  },
  CHAT_PROVISION_RETRY_LOCK_TTL: {
    kind: duration,
    default: '5m',
    about: 'The server frees the lock of a holder silent for so long; above MAX_RUN_DURATION.',
  },
  CHAT_PROVISION_RETRY_MAX_RUN_DURATION: {
    kind: duration,
    default: '3m',
    about: 'A cycle takes no further batch after it.',
  },
  CHAT_PROVISION_RETRY_CONCURRENCY: {
    kind: wholeNumber(1, 64),
    default: '4',
    about: 'Rows under way at once, each in its own transaction.',
  },
  CHAT_PROVISION_RETRY_PARTICIPANT_ROLES: {
    kind: listOf(role, 'roles separated by commas, each at most 32 characters, none twice'),
    default: 'Owner,Member,Observer',
    about: 'Roles that a member may have.',
  },
  CHAT_PROVISION_RETRY_RUNS_RETENTION: {
    kind: longDuration,
    default: '30d',
    about: 'Records of cycles and of failed attempts are kept so long.',
  },
  ...messagingOptions,
  HTTP_HOST: {
    kind: matching(/^[A-Za-z0-9.:_-]+$/, 'a host name or an IP address'),
    default: '127.0.0.1',
    about: 'Address to listen at; 0.0.0.0 for all.',
    need: 'http',
  },
  HTTP_PORT: {
    kind: wholeNumber(0, 65_535),
    default: '8080',
    about: '0 picks a free port and logs it.',
    need: 'http',
  },
  HTTP_TRUSTED_PROXIES: {
    kind: networkList,
    about:
      'Proxies in front, whose X-Forwarded-For tells who asks. Unset: it is not believed, and all behind one share its limits.',
    need: 'http',
  },
  DECK_READ_TOKEN: {
    kind: token,
    about: 'Reads The Deck and the API. Set: enforced everywhere; unset: only on loopback.',
    secret: true,
    need: 'http',
  },
  DECK_ADMIN_TOKEN: { kind: token, about: 'Reads and changes.', secret: true, need: 'http' },
  LOG_LEVEL: {
    kind: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    about: 'Least level that is logged.',
  },
  SHUTDOWN_GRACE: {
    kind: duration,
    default: '20s',
    about: 'Time for an orderly stop.',
  },
} as const satisfies OptionGroup

export type OptionName = keyof typeof options

type ValueOf<O> = O extends { readonly kind: Kind<infer T> }
  ? O extends { readonly default: string }
    ? T
    : T | undefined
  : never

export type OptionValues = { readonly [N in OptionName]: ValueOf<(typeof options)[N]> }

/** The table with its exact types forgotten, for what goes through all of it. */
export const optionList = Object.entries(options) as readonly (readonly [
  OptionName,
  Option<unknown>,
])[]

export interface OptionRow {
  readonly name: string
  /** As one would write it; undefined where the option may stay unset. */
  readonly default: string | undefined
  readonly allowed: string
  readonly about: string
  readonly secret: boolean
}

/** For documents and pages, in the order in which one meets the options. */
export function optionTable(): readonly OptionRow[] {
  return optionList.map(([name, option]) => ({
    name,
    default: option.shownDefault ?? option.default,
    allowed: option.kind.allowed,
    about: option.about,
    secret: option.secret === true,
  }))
}
