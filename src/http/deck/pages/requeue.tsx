/** Re-enqueue of chosen deals: all their attempts again, from now. The example of an action. */

import { AppError } from '../../../errors.js'
import type { Refusal } from '../../../operations/provision-command.js'
import { readUuids } from '../../../operations/read-input.js'
import { requeueProvisions } from '../../../operations/requeue-provisions.js'
import { abandoned } from '../../api/time-limit.js'
import { targetsOf } from '../../api/bulk-targets.js'
import { addAction, refuseStopped } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { safeNext } from '../next-path.js'
import type { Notice } from '../notice.js'
import { undoHref } from '../parts/audit-table.js'
import { Targets } from '../parts/targets.js'
import { ofThem } from '../parts/text.js'
import { all, one } from '../values.js'

interface Chosen {
  readonly dealIds: readonly string[]
  readonly back: string
}

export function addRequeue(app: DeckServer, deck: DeckContext): void {
  const { operator } = deck
  addAction<Chosen>(app, deck, {
    path: '/provisions/requeue',
    section: 'provisions',
    title: 'Re-enqueue',
    effect:
      'They get all their attempts again, from now. For those that are out of attempts, crm shows “creating” again.',
    repeated: ['deal'],
    read: (values) => {
      const dealIds = readUuids('a deal id', all(values, 'deal'))
      if (dealIds.length === 0) {
        throw new AppError('INPUT_INVALID', 'No deal was chosen. Go back and choose some.')
      }
      return { dealIds, back: safeNext(one(values, 'back') ?? '/deck/provisions') }
    },
    view: async ({ dealIds }) => {
      const { affected, refused } = await requeueProvisions(operator, {
        targets: targetsOf({ dealIds: [...dealIds], dryRun: true }),
        order: 'dry run',
      })
      return {
        preview: () => <Preview {...{ dealIds, affected, refused }} />,
        isVoid: affected === 0,
      }
    },
    carryOut: async ({ dealIds, back }, order, request) => {
      const targets = targetsOf({ dealIds: [...dealIds], dryRun: false })
      const signal = abandoned(request)
      const result = await requeueProvisions(operator, { targets, order, signal })
      refuseStopped(result)
      const notice = noticeOf(result)
      if (result.affected === 0) throw new AppError('USAGE', notice.text)
      if (result.auditId === null) return notice
      return { ...notice, link: { href: undoHref(result.auditId, back), text: 'Take it back' } }
    },
    back: ({ back }) => back,
  })
}

function Preview(props: {
  readonly dealIds: readonly string[]
  readonly affected: number
  readonly refused: readonly Refusal[]
}): JSX.Element {
  const { dealIds, affected, refused } = props
  const why = new Map(refused.map((refusal) => [refusal.dealId, refusal.why]))
  return (
    <>
      <p>
        <strong safe>{ofThem(affected, 'deal')}</strong> would be re-enqueued
        {refused.length > 0 && <span safe>{`, ${ofThem(refused.length, 'deal')} would not`}</span>}.
      </p>
      <Targets path="/deck/provisions" ids={dealIds} whyNot={why} />
    </>
  )
}

function noticeOf(result: {
  readonly affected: number
  readonly skipped: number
  readonly refused: readonly Refusal[]
}): Notice {
  const { affected, skipped, refused } = result
  const [first] = refused
  const parts = [
    `${ofThem(affected, 'deal')} re-enqueued.`,
    skipped > 0 && `${ofThem(skipped, 'deal')} skipped: someone else was quicker.`,
    first && `${ofThem(refused.length, 'deal')} refused: ${first.why}.`,
  ]
  return {
    tone: refused.length + skipped > 0 ? 'warn' : 'good',
    text: parts.filter((part) => typeof part === 'string').join(' '),
  }
}
