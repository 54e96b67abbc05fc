/** What is done to chosen jobs, and to all that a filter means: cancelled, or brought back from the dead. */

import { bulkCap } from '../../../chokaq/index.js'
import { AppError } from '../../../errors.js'
import { cancelJob, resurrectJob, type JobEnd } from '../../../operations/act-on-jobs.js'
import {
  actOnManyJobs,
  describeJobs,
  placeOfAction,
  previewManyJobs,
  type ManyJobsAction,
} from '../../../operations/act-on-many-jobs.js'
import { showJob, type JobsFilter } from '../../../operations/list-jobs.js'
import type { Order } from '../../../operations/read-input.js'
import { atOnceAtMost } from '../../api/bulk-targets.js'
import { readJobs } from '../../api/read-only.js'
import { abandoned } from '../../api/time-limit.js'
import { addAction, refuseStopped } from '../action.js'
import type { DeckContext, DeckServer } from '../context.js'
import { jobFilterOf, jobFilterValuesOf } from '../job-values.js'
import { safeNext } from '../next-path.js'
import { Targets } from '../parts/targets.js'
import { countText, ofThem } from '../parts/text.js'
import { readJobId } from '../read-job.js'
import { all, one, queryOf, type Values } from '../values.js'

const path = '/deck/jobs'

const actions = [
  {
    ...{ name: 'cancel', title: 'Cancel', done: 'cancelled or asked to end', act: cancelJob },
    effect: 'Jobs that wait end at once; those that run are asked to end, at their next heartbeat.',
    unfit: 'it is not live',
  },
  {
    ...{ name: 'resurrect', title: 'Resurrect', done: 'resurrected', act: resurrectAsItIs },
    effect: 'They begin anew, with all their runs and as they are.',
    unfit: 'it is not dead',
  },
] as const satisfies readonly {
  readonly name: ManyJobsAction
  readonly act: (context: never, id: string, order: Order) => Promise<JobEnd>
  readonly [text: string]: unknown
}[]

function resurrectAsItIs(
  context: Parameters<typeof resurrectJob>[0],
  id: string,
  order: Order,
): Promise<JobEnd> {
  return resurrectJob(context, id, order, {})
}

/** For the jobs of the place that is listed; none for the archive. */
export function jobActionOf(place: string) {
  return actions.find(({ name }) => placeOfAction[name] === place)
}

export function JobBulkLink({ values }: { readonly values: Values }): JSX.Element {
  const action = jobActionOf(one(values, 'place') ?? 'hot')
  if (action === undefined) return <></>
  return (
    <p class="buttons">
      <a href={`${path}/all/${action.name}${queryOf(jobFilterValuesOf(values))}`} safe>
        {`${action.title} all of these…`}
      </a>
    </p>
  )
}

export function addJobBulkActions(app: DeckServer, deck: DeckContext): void {
  for (const action of actions) {
    addChosen(app, deck, action)
    addAll(app, deck, action)
  }
}

type JobAction = (typeof actions)[number]

interface Chosen {
  readonly ids: readonly string[]
  readonly back: string
}

/** @throws AppError INPUT_INVALID, TOO_MANY */
function chosenOf(values: Values): Chosen {
  const ids = [...new Set(all(values, 'job').map(readJobId))]
  if (ids.length === 0)
    throw new AppError('INPUT_INVALID', 'No job was chosen. Go back and choose some.')
  if (ids.length > atOnceAtMost)
    throw new AppError('TOO_MANY', `At most ${atOnceAtMost} jobs are done at once. Choose fewer.`)
  return { ids, back: safeNext(one(values, 'back') ?? path) }
}

function addChosen(app: DeckServer, deck: DeckContext, action: JobAction): void {
  const { name, title, effect, done, unfit, act } = action
  const context = { db: deck.db, moves: deck.jobs.moves }
  addAction<Chosen>(app, deck, {
    path: `/jobs/${name}`,
    section: 'jobs',
    ...{ title, effect },
    repeated: ['job'],
    read: chosenOf,
    view: async ({ ids }) => {
      const whyNot = await readJobs(deck.db, async (storage) => {
        const reasons = new Map<string, string>()
        for (const id of ids) {
          const job = await showJob(storage, id)
          if (job?.place !== placeOfAction[name]) reasons.set(id, unfit)
        }
        return reasons
      })
      return {
        preview: () => <Targets {...{ path, ids, whyNot }} />,
        isVoid: whyNot.size === ids.length,
      }
    },
    carryOut: async ({ ids }, order, request) => {
      const signal = abandoned(request)
      let [affected, left] = [0, 0]
      let why: string | undefined
      for (const id of ids) {
        if (signal.aborted) break
        const end = await act(context, id, order)
        if (end.done) affected += 1
        else [left, why] = [left + 1, why ?? end.why]
      }
      refuseStopped({ stopped: affected + left < ids.length })
      if (affected === 0) throw new AppError('USAGE', `Nothing was done: ${why ?? ''}.`)
      const rest = why === undefined ? '' : ` ${ofThem(left, 'job')} refused: ${why}.`
      const text = `${ofThem(affected, 'job')} ${done}.${rest}`
      return { tone: affected < ids.length ? 'warn' : 'good', text }
    },
    back: ({ back }) => back,
  })
}

interface Filtered {
  readonly filter: JobsFilter
  readonly back: string
}

function addAll(app: DeckServer, deck: DeckContext, action: JobAction): void {
  const { name, title, effect, done } = action
  const context = { db: deck.db, moves: deck.jobs.moves }
  addAction<Filtered>(app, deck, {
    path: `/jobs/all/${name}`,
    section: 'jobs',
    title: `${title} all`,
    effect,
    read: (values) => {
      const narrowed = { ...jobFilterValuesOf(values), place: placeOfAction[name] }
      return { filter: jobFilterOf(narrowed), back: `${path}${queryOf(narrowed)}` }
    },
    view: async ({ filter }) => {
      const { matched, willAffect, sampleIds } = await previewManyJobs(context, name, filter)
      return {
        preview: () => (
          <>
            <p>
              <strong safe>{ofThem(willAffect, 'job')}</strong>
              <span safe>
                {` by ${describeJobs(name, filter)}` +
                  (matched > willAffect
                    ? `: the oldest of ${countText(matched)}, for ${countText(bulkCap)} are done at once. `
                    : '. ') +
                  'The oldest are:'}
              </span>
            </p>
            <Targets path={path} ids={sampleIds} whyNot={new Map()} />
          </>
        ),
        typed: String(willAffect),
        ...(matched > willAffect && { ofAll: matched }),
        isVoid: willAffect === 0,
      }
    },
    carryOut: async ({ filter }, order) => {
      const { affected, left } = await actOnManyJobs(context, name, filter, order)
      if (affected === 0)
        throw new AppError('USAGE', 'Nothing was done: none of them is there any more.')
      const rest = left === 0 ? '' : ` ${ofThem(left, 'job')} stayed: each one's page says why.`
      return {
        tone: left === 0 ? 'good' : 'warn',
        text: `${ofThem(affected, 'job')} ${done}.${rest}`,
      }
    },
    back: ({ back }) => back,
  })
}
