/**
 * The kinds of trouble that the demo feeds: at least one for each line of the outcome table, with
 * where a deal of the kind must end. The first ones are those that the fewest deals should show.
 */

import { randomUUID } from 'node:crypto'
import { membersAtMost, type GuardCode, type Member } from '../provisioning/guards.js'
import { maxAttempts, type DemoDeal, type ExistingChat, type Expected } from './demo-deal.js'

/** Longer than the worker's StuckProvisioningAfter, which is an hour in the demo. */
const twoHours = 7200
const oneDay = 86_400

export interface DealKind {
  readonly name: string
  /** How many of it come for each turn of the mix, after the first one; 0: one is enough. */
  readonly weight: number
  readonly make: (index: number) => DemoDeal
}

export const dealKinds: readonly DealKind[] = [
  kind('no chat was made', 8, () => ready()),
  kind('stuck in Provisioning', 4, () => ready({ row: { status: 'Provisioning' } })),
  kind('the worker is killed over it', 0, () => ready({ scene: 'worker is killed' })),
  kind('chat there, members missing', 3, halfMadeChat),
  kind('title is blank', 1, () => poison('guard:TITLE_BLANK', { row: { title: '\u2003\t ' } })),
  kind('constraint, good at 3rd try', 2, () =>
    ready({ fault: { sqlstate: '23514', spoils: 2 }, expected: { attempts: 3 } }),
  ),
  kind('consumer finishes it itself', 1, () =>
    ready({
      row: { status: 'Provisioning' },
      scene: 'consumer finishes',
      expected: { attempts: 0 },
    }),
  ),
  kind('poison, mended, re-enqueued', 1, () =>
    ready({
      row: { title: ' ' },
      scene: 'operator mends',
      expected: { events: ['Failed', 'Provisioning', 'Ready'] },
    }),
  ),
  kind('already Ready', 1, finishedBefore),
  kind('not due before tomorrow', 1, () =>
    leftAlone({ attempts: 1, lastError: 'contention:40P01', dueInSeconds: oneDay }),
  ),
  kind('young: left to the consumer', 1, () => leftAlone({ status: 'Provisioning' }, 0)),
  kind('poison from before', 1, () =>
    leftAlone({ attempts: maxAttempts, lastError: 'guard:NO_MEMBERS' }),
  ),
  kind('worker died on the last try', 1, () =>
    poison('crash:WORKER_DIED', {
      row: { status: 'Provisioning', attempts: maxAttempts, lastError: 'crash:WORKER_DIED' },
    }),
  ),
  kind('no members', 1, () => poison('guard:NO_MEMBERS', { members: [] })),
  kind('unknown role', 1, () =>
    poison('guard:ROLE_UNKNOWN', { members: [...threeMembers(), member('King')] }),
  ),
  kind(`more than ${membersAtMost} members`, 0, () =>
    poison('guard:MEMBERS_TOO_MANY', {
      members: Array.from({ length: membersAtMost + 1 }, () => member('Member')),
    }),
  ),
  kind('chat is archived', 1, () => refusedChat('CHAT_NOT_ACTIVE', { status: 'Archived' })),
  kind('chat is of another kind', 1, () => refusedChat('CHAT_KIND_MISMATCH', { kind: 'Group' })),
  kind('chat of another tenant', 1, () =>
    refusedChat('TENANT_MISMATCH', { tenantId: randomUUID() }),
  ),
  kind('constraint, always', 1, () => broken('constraint', '23514')),
  kind('data error, always', 1, () => broken('data', '22001')),
  kind('unforeseen error, always', 1, () => broken('bug', 'P0001')),
  kind('deadlock, always', 1, () => broken('contention', '40P01')),
  kind('serialization, then good', 2, () =>
    ready({ fault: { sqlstate: '40001', spoils: 1 }, expected: { attempts: 2 } }),
  ),
  kind('its work ends the session', 1, () => broken('contention', '57P01')),
]

type Draft = Partial<Omit<DemoDeal, 'row' | 'expected'>> & {
  readonly row?: Partial<DemoDeal['row']>
  readonly expected?: Partial<Expected>
}

function kind(name: string, weight: number, draft: (index: number) => Draft): DealKind {
  return { name, weight, make: (index) => complete(name, draft(index), index) }
}

function complete(name: string, draft: Draft, index: number): DemoDeal {
  return {
    id: randomUUID(),
    dealId: randomUUID(),
    members: threeMembers(),
    chat: undefined,
    fault: undefined,
    scene: undefined,
    ...draft,
    kind: name,
    row: {
      title: `Объект №${index + 1}, ЖК «Север»`,
      projectId: randomUUID(),
      tenantId: randomUUID(),
      chatId: null,
      status: 'Failed',
      attempts: 0,
      lastError: null,
      dueInSeconds: -twoHours,
      ageSeconds: twoHours,
      ...draft.row,
    },
    expected: {
      status: 'Ready',
      attempts: 1,
      lastError: null,
      events: ['Ready'],
      untouched: false,
      roles: undefined,
      ...draft.expected,
    },
  }
}

/** A deal that must get its chat, with all its members in it. */
function ready(draft: Draft = {}): Draft {
  const members = draft.members ?? threeMembers()
  const roles = members.map(({ role }) => role).sort()
  return { ...draft, members, expected: { roles, ...draft.expected } }
}

function poison(lastError: string, draft: Draft): Draft {
  const expected: Partial<Expected> = {
    status: 'Failed',
    attempts: maxAttempts,
    lastError,
    events: ['Failed'],
  }
  return { ...draft, expected: { ...expected, ...draft.expected } }
}

function broken(failureClass: string, sqlstate: string): Draft {
  return poison(`${failureClass}:${sqlstate}`, { fault: { sqlstate } })
}

function leftAlone(row: Partial<DemoDeal['row']>, ageSeconds = twoHours): Draft {
  const { status = 'Failed', attempts = 0, lastError = null } = row
  return {
    row: { ...row, ageSeconds },
    expected: { status, attempts, lastError, events: [], untouched: true },
  }
}

function finishedBefore(): Draft {
  const chat = chatOf(threeMembers())
  const left = leftAlone({ status: 'Ready', attempts: 1, chatId: chat.id })
  return { ...left, chat: { ...chat, announced: true } }
}

/** One is in, one has left and keeps the role of then, one was never added; a guest stays. */
function halfMadeChat(): Draft {
  const [owner, left, missing] = [member('Owner'), member('Member'), member('Observer')]
  const participants = [
    { ...owner, left: false },
    { ...left, role: 'Observer', left: true },
    { ...member('Guest'), left: false },
  ]
  return ready({
    members: [owner, left, missing],
    chat: { ...chatOf([]), participants },
    expected: { roles: ['Guest', 'Observer', 'Observer', 'Owner'] },
  })
}

function refusedChat(code: GuardCode, chat: Partial<ExistingChat>): Draft {
  return poison(`guard:${code}`, { chat: { ...chatOf([]), ...chat } })
}

function chatOf(members: readonly Member[]): ExistingChat {
  return {
    id: randomUUID(),
    kind: 'Deal',
    status: 'Active',
    tenantId: null,
    announced: false,
    participants: members.map((each) => ({ ...each, left: false })),
  }
}

function threeMembers(): Member[] {
  return [member('Owner'), member('Member'), member('Observer')]
}

function member(role: string): Member {
  return { userId: randomUUID(), role }
}
