/** Reconciling with the worker's rights, and the ways in which a deal comes out of step. */

import { referenceChatView } from '../../../src/operations/chat-view.js'
import type { OperatorContext } from '../../../src/operations/provision-command.js'
import {
  reconcileProvisions,
  type Finding,
  type ReconcileCommand,
  type ReconcileResult,
} from '../../../src/operations/reconcile-provisions.js'
import { createProvisionContext } from '../../../src/provisioning/provision-context.js'
import { referenceChats } from '../../../src/provisioning/reference-chats.js'
import { dealState, seedDeal, type DealState, type SeededDeal } from '../../support/deals.js'
import { testRetryOptions, useTestJobs } from '../../support/job.js'
import type { TestDatabase } from '../../support/test-database.js'
import { useOperators } from './operator-fixtures.js'

export interface Reconciled extends ReconcileResult {
  readonly findings: readonly Finding[]
}

async function reconcileAs(
  operator: OperatorContext,
  command: Partial<ReconcileCommand>,
): Promise<Reconciled> {
  const context = {
    ...operator,
    eventRetentionMs: 7 * 86_400_000,
    chatView: referenceChatView,
    provisioning: createProvisionContext(referenceChats, testRetryOptions.participantRoles),
  }
  const findings: Finding[] = []
  const result = await reconcileProvisions(
    context,
    { targets: { filter: {} }, ...command },
    (finding) => findings.push(finding),
  )
  return { ...result, findings }
}

export interface Reconciling {
  /** Reconciles all deals, or as the command says. */
  readonly reconcile: (
    command?: Partial<ReconcileCommand>,
    operator?: string,
  ) => Promise<Reconciled>
  readonly newJob: ReturnType<typeof useTestJobs>
  readonly seedReady: () => Promise<SeededDeal>
  readonly spoil: Spoil
  readonly state: (deal: SeededDeal) => Promise<DealState>
}

/** Registers the hooks of jobs and operators; call it at the file's top level. */
export function useReconcile(database: () => TestDatabase): Reconciling {
  const newOperator = useOperators(database)
  const newJob = useTestJobs(database)
  return {
    reconcile: (command = {}, operator) => reconcileAs(newOperator(operator), command),
    newJob,
    seedReady: async () => {
      const deal = await seedDeal(database().admin)
      await newJob().cycle()
      return deal
    },
    spoil: (deal, statement) => database().query(statement, [deal.dealId]),
    state: (deal) => dealState(database().admin, deal.dealId),
  }
}

/** Runs one statement with the deal's id as $1. */
export type Spoil = (deal: SeededDeal, statement: string) => Promise<unknown>

export const ofDeal = '(select id from messenger.chats where deal_id = $1)'

export const losses = {
  'the chat': async (spoil: Spoil, deal: SeededDeal) => {
    await spoil(deal, `delete from messenger.participants where chat_id in ${ofDeal}`)
    await spoil(deal, `delete from messenger.chat_events where chat_id in ${ofDeal}`)
    await spoil(deal, 'delete from messenger.chats where deal_id = $1')
  },
  'the feed row': (spoil: Spoil, deal: SeededDeal) =>
    spoil(deal, `delete from messenger.chat_events where chat_id in ${ofDeal}`),
  'two participants': (spoil: Spoil, deal: SeededDeal) =>
    spoil(
      deal,
      `delete from messenger.participants where chat_id in ${ofDeal} and role <> 'Owner'`,
    ),
  'its event': (spoil: Spoil, deal: SeededDeal) =>
    spoil(deal, 'delete from messenger.outbox_events where aggregate_id = $1'),
  "the chat's id": (spoil: Spoil, deal: SeededDeal) =>
    spoil(
      deal,
      'update messenger.deal_chat_provisions set chat_id = gen_random_uuid() where deal_id = $1',
    ),
}
