/** What is done to all deals that a filter means: shown first, confirmed by typing the number, by a job. */

import { listProvisions, type ProvisionLine } from '../../../operations/list-provisions.js'
import { enqueueOnce } from '../../../operations/once.js'
import type { Targets } from '../../../operations/provision-command.js'
import { describeFilter } from '../../../operations/provision-filter.js'
import { countReemit } from '../../../operations/reemit-provisions.js'
import { countRequeue } from '../../../operations/requeue-provisions.js'
import { refuseTooMany, targetsOf } from '../../api/bulk-targets.js'
import { readOnly } from '../../api/read-only.js'
import { addAction } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Why } from '../parts/targets.js'
import { Id, ofThem } from '../parts/text.js'
import { filterInputOf } from '../provision-values.js'
import { one, queryOf, type Values } from '../values.js'

const path = '/deck/provisions'

const actions = [
  {
    ...{ name: 'requeue', title: 'Re-enqueue all', count: countRequeue, extra: {} },
    effect: 'They get all their attempts again, from now. Ready ones are not meant.',
  },
  {
    ...{ name: 'reemit', title: 'Tell crm again of all', count: countReemit, extra: {} },
    effect: 'A new event says how each stands now. The deals themselves stay as they are.',
  },
  {
    ...{ name: 'reconcile', title: 'Reconcile all', count: countReemit, extra: { mend: true } },
    effect:
      'Deals are held against their chats and against what crm was told; what differs is mended.',
  },
] as const

const filterNames = ['state', 'error', 'olderThan', 'tenant'] as const

function filterOf(values: Values): Values {
  return Object.fromEntries(filterNames.map((name) => [name, one(values, name)]))
}

/** Nothing where nothing is narrowed: that would mean every deal. */
export function BulkLinks({ values }: { readonly values: Values }): JSX.Element {
  const query = queryOf(filterOf(values))
  if (query === '') return <></>
  return (
    <p class="buttons">
      {actions.map(({ name, title }) => (
        <a href={`${path}/all/${name}${query}`} safe>
          {`${title}…`}
        </a>
      ))}
    </p>
  )
}

interface Subject {
  readonly filter: ReturnType<typeof filterInputOf>
  readonly targets: Exclude<Targets, { readonly dealIds: unknown }>
  readonly back: string
}

export function addBulkActions(app: DeckServer, deck: DeckContext): void {
  const { operator, jobs, db } = deck
  const { maxAttempts } = operator
  for (const { name, title, effect, count, extra } of actions) {
    addAction<Subject>(app, deck, {
      path: `/provisions/all/${name}`,
      section: 'provisions',
      ...{ title, effect },
      read: (values) => {
        const filter = filterInputOf(values)
        const targets = targetsOf({ filter, dryRun: false })
        if (!('filter' in targets)) throw new Error('a filter has become given deals')
        return { filter, targets, back: `${path}${queryOf(filterOf(values))}` }
      },
      view: async ({ targets }) => {
        const matched = await count(operator, targets)
        refuseTooMany(matched)
        const { filter } = targets
        const { items } = await readOnly(db, (trx) =>
          listProvisions(trx, { filter, maxAttempts, limit: sampleRows }),
        )
        return {
          preview: () => <Preview {...{ matched, items }} chosenBy={describeFilter(filter)} />,
          typed: String(matched),
          isVoid: matched === 0,
        }
      },
      carryOut: ({ filter }, order, _request, { view: { typed }, keep }) => {
        const matched = Number(typed)
        const payload = { filter, by: order.by, reason: order.reason, atMost: matched, ...extra }
        const options = { createdBy: order.by, idempotencyKey: order.requestId }
        const made = { db, queue: jobs.queue }
        return enqueueOnce(made, [`provision.${name}.v1`, payload, options], keep, (id) => ({
          tone: 'good',
          text: `A job goes through ${ofThem(matched, 'deal')}.`,
          link: { href: `/deck/jobs/${id}`, text: 'See the job' },
        }))
      },
      back: ({ back }) => back,
    })
  }
}

/** Enough to see whether the right ones are meant. */
const sampleRows = 10

function Preview(props: {
  readonly matched: number
  readonly items: readonly ProvisionLine[]
  readonly chosenBy: string
}): JSX.Element {
  const { matched, items, chosenBy } = props
  return (
    <>
      <p>
        <strong safe>{ofThem(matched, 'deal')}</strong>
        <span safe>{` by ${chosenBy}. Those that match and changed last:`}</span>
      </p>
      <ul class="targets">
        {items.map(({ dealId, lastError }) => (
          <li>
            <Id id={dealId} href={`${path}/${dealId}`} />
            {lastError !== null && <Why text={lastError} />}
          </li>
        ))}
      </ul>
    </>
  )
}
