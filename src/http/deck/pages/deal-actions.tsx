/** What is done to chosen deals beside the re-enqueue: telling crm again, and reconciling. */

import { AppError } from '../../../errors.js'
import { readUuids, type Order } from '../../../operations/read-input.js'
import { reconcileProvisions, type Finding } from '../../../operations/reconcile-provisions.js'
import { reemitProvisions } from '../../../operations/reemit-provisions.js'
import { targetsOf } from '../../api/bulk-targets.js'
import { abandoned } from '../../api/time-limit.js'
import { addAction, refuseStopped } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { safeNext } from '../next-path.js'
import { Targets, Why } from '../parts/targets.js'
import { Id, ofThem } from '../parts/text.js'
import { all, one, type Values } from '../values.js'

interface Chosen {
  readonly dealIds: readonly string[]
  readonly back: string
}

function chosenOf(values: Values): Chosen {
  const dealIds = readUuids('a deal id', all(values, 'deal'))
  if (dealIds.length === 0)
    throw new AppError('INPUT_INVALID', 'No deal was chosen. Go back and choose some.')
  return { dealIds, back: safeNext(one(values, 'back') ?? '/deck/provisions') }
}

const targets = ({ dealIds }: Chosen) => targetsOf({ dealIds: [...dealIds], dryRun: false })

export function addDealActions(app: DeckServer, deck: DeckContext): void {
  addReemit(app, deck)
  addReconcile(app, deck)
}

function addReemit(app: DeckServer, deck: DeckContext): void {
  const { operator } = deck
  addAction<Chosen>(app, deck, {
    path: '/provisions/reemit',
    section: 'provisions',
    title: 'Tell crm again',
    effect: 'A new event says how each stands now. The deals themselves stay as they are.',
    repeated: ['deal'],
    read: chosenOf,
    view: async (chosen) => {
      const order = 'dry run' as const
      const seen = await reemitProvisions(operator, { targets: targets(chosen), order })
      return {
        preview: () => (
          <Deals {...chosen} text={`${ofThem(seen.affected, 'event')} would be written.`} />
        ),
        isVoid: seen.affected === 0,
      }
    },
    carryOut: async (chosen, order, request) => {
      const signal = abandoned(request)
      const done = await reemitProvisions(operator, { targets: targets(chosen), order, signal })
      refuseStopped(done)
      const [first] = done.refused
      if (done.affected === 0)
        throw new AppError('USAGE', `Nothing was done: ${first?.why ?? 'someone was quicker'}.`)
      const left = first && ` ${ofThem(done.refused.length, 'deal')} refused: ${first.why}.`
      const text = `crm is told of ${ofThem(done.affected, 'deal')}.${left ?? ''}`
      return { tone: first === undefined ? 'good' : 'warn', text }
    },
    back: ({ back }) => back,
  })
}

function addReconcile(app: DeckServer, deck: DeckContext): void {
  async function reconcile(
    chosen: Chosen,
    mending: { readonly mend?: Order; readonly signal?: AbortSignal } = {},
  ): Promise<readonly Finding[]> {
    const findings: Finding[] = []
    const command = { targets: targets(chosen), ...mending }
    const result = await reconcileProvisions(deck.operator, command, (finding) =>
      findings.push(finding),
    )
    refuseStopped(result)
    return findings
  }
  addAction<Chosen>(app, deck, {
    path: '/provisions/reconcile',
    section: 'provisions',
    title: 'Mend',
    effect:
      'Deals are held against their chats and against what crm was told; what differs is mended.',
    repeated: ['deal'],
    read: chosenOf,
    view: async (chosen) => {
      const findings = await reconcile(chosen)
      return {
        preview: () => <Findings {...chosen} findings={findings} />,
        isVoid: findings.length === 0,
      }
    },
    carryOut: async (chosen, order, request) => {
      const signal = abandoned(request)
      const findings = await reconcile(chosen, { mend: order, signal })
      const mended = findings.filter(({ outcome }) => outcome === 'mended').length
      const [left] = findings.filter(({ outcome }) => outcome !== 'mended')
      const rest = left && ` ${left.finding} stays: ${left.why ?? left.outcome}.`
      const text = `${ofThem(mended, 'finding')} mended.${rest ?? ''}`
      return { tone: left === undefined ? 'good' : 'warn', text }
    },
    back: ({ back }) => back,
  })
}

function Deals({ dealIds, text }: Chosen & { readonly text: string }): JSX.Element {
  return (
    <>
      <p safe>{text}</p>
      <Targets path="/deck/provisions" ids={dealIds} whyNot={new Map()} />
    </>
  )
}

function Findings(props: Chosen & { readonly findings: readonly Finding[] }): JSX.Element {
  const { dealIds, findings } = props
  if (findings.length === 0)
    return (
      <p
        safe
      >{`Nothing differs in ${ofThem(dealIds.length, 'deal')}: there is nothing to mend.`}</p>
    )
  return (
    <ul class="targets">
      {findings.map(({ dealId, finding, about, detail }) => (
        <li>
          <Id id={dealId} href={`/deck/provisions/${dealId}`} />
          <Why text={`${finding}: ${about}${detail === null ? '' : ` (${detail})`}`} />
        </li>
      ))}
    </ul>
  )
}
