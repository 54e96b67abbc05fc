/** What a file's deals are fed as, and where they must end. */

import { randomUUID } from 'node:crypto'
import { rejectProvision, type Member } from '../provisioning/guards.js'
import type { DealInFile } from './deal-file.js'
import { knownRoles, maxAttempts, type DemoDeal } from './demo-deal.js'
import { inOrderOfDue } from './mix-deals.js'

export function dealsOfFile(deals: readonly DealInFile[]): DemoDeal[] {
  return inOrderOfDue(withVictim(deals.map(toDemoDeal)))
}

/** Fed as Failed and long due; it ends as the guards say. */
function toDemoDeal(deal: DealInFile): DemoDeal {
  const members: Member[] = deal.Members.map(({ UserId, Role }) => ({ userId: UserId, role: Role }))
  const code = rejectProvision({ title: deal.Title, members }, new Set<string>(knownRoles))
  const roles = members.map(({ role }) => role).sort()
  return {
    id: randomUUID(),
    dealId: deal.DealId,
    members,
    chat: undefined,
    fault: undefined,
    scene: undefined,
    kind: code === undefined ? 'file: good' : `file: ${code}`,
    row: {
      title: deal.Title,
      chatId: null,
      status: 'Failed',
      attempts: 0,
      lastError: null,
      projectId: deal.ProjectId ?? null,
      tenantId: deal.DeveloperCompanyId ?? null,
      dueInSeconds: -1,
      ageSeconds: 1,
    },
    expected:
      code === undefined
        ? {
            status: 'Ready',
            attempts: 1,
            lastError: null,
            events: ['Ready'],
            untouched: false,
            roles,
          }
        : {
            status: 'Failed',
            attempts: maxAttempts,
            lastError: `guard:${code}`,
            events: ['Failed'],
            untouched: false,
            roles: undefined,
          },
  }
}

/** The worker is killed over one of those that get a chat. */
function withVictim(deals: readonly DemoDeal[]): DemoDeal[] {
  const good = deals.filter(({ expected }) => expected.status === 'Ready')
  const victim = good[Math.floor(good.length / 2)]
  return deals.map((deal) => (deal === victim ? { ...deal, scene: 'worker is killed' } : deal))
}
