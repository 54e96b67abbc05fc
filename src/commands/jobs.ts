/** `jobs list|show|cancel|resurrect|priority`: looks at durable jobs and acts on them. */

import { InvalidArgumentError, type Command } from 'commander'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import {
  cancelJob,
  prioritizeJob,
  resurrectJob,
  type JobEdits,
  type JobEnd,
} from '../operations/act-on-jobs.js'
import { listJobs, showJob, type JobsQuery } from '../operations/list-jobs.js'
import { quoted, readOrder, type Order } from '../operations/read-input.js'
import { readAsOf } from '../provisioning/candidates.js'
import { ageText } from './age.js'
import type { SetExitCode } from './exit-code.js'
import { printPage } from './list-page.js'
import { withExamples, withPage, type OutputOptions, type PageOptions } from './operator-options.js'
import { printFields, printJson, printLine } from './output.js'
import { withJobs, type JobsAtHand } from './with-jobs.js'

export function addJobs(program: Command, environment: Environment, exit: SetExitCode): void {
  const jobs = program
    .command('jobs')
    .description('look at durable jobs, and act on those that are stuck or dead')

  withExamples(
    withPage(
      jobs
        .command('list')
        .option(
          '--place <place>',
          'hot (live), archive (succeeded) or dlq (dead); default: where the state is, else hot',
          parsePlace,
        )
        .option(
          '--state <state>',
          'Pending, Fetched, Processing, Succeeded, Failed, Cancelled, Zombie',
          parseState,
        )
        .option('--queue <name>', 'of one queue')
        .option('--type <key>', 'of one type, such as provision.requeue.v1'),
    ),
    'jobs list',
    'jobs list --place dlq --limit 20',
    'jobs list --state Zombie',
  )
    .description('live jobs newest first, ended ones latest first')
    .action((options: ListOptions) => list(environment, options))

  withExamples(jobs.command('show <job-id>'), 'jobs show JOB_ID')
    .description('one job: payload, runs, failure in full')
    .option('--json', 'print as JSON')
    .action((id: string, options: OutputOptions) => show(environment, id, options))

  withExamples(
    withWho(jobs.command('cancel <job-id>')),
    'jobs cancel JOB_ID --by anna --reason "wrong filter"',
  )
    .description('end a job that waits, or ask one that runs to end')
    .action(async (id: string, options: WhoOptions) =>
      exit(await act(environment, id, options, cancelJob)),
    )

  withExamples(
    withWho(
      jobs
        .command('resurrect <job-id>')
        .option('--payload <json>', 'another payload')
        .option('--priority <n>', 'another priority, 0 to 100', parsePriority)
        .option('--tags <tags>', "other tags, separated by commas; '' for none"),
    ),
    'jobs resurrect JOB_ID --by anna --reason "the table is back"',
  )
    .description('a dead job begins anew, with all its attempts')
    .action(async (id: string, options: ResurrectOptions) =>
      exit(
        await act(environment, id, options, (context, jobId, order) =>
          resurrectJob(context, jobId, order, editsOf(options)),
        ),
      ),
    )

  withExamples(
    withWho(
      jobs.command('priority <job-id>').argument('<n>', '0 to 100, higher first', parsePriority),
    ),
    'jobs priority JOB_ID 90 --by anna --reason "before the nightly ones"',
  )
    .description('let a job that waits go sooner or later')
    .action(async (id: string, priority: number, options: WhoOptions) =>
      exit(
        await act(environment, id, options, (context, jobId, order) =>
          prioritizeJob(context, jobId, order, priority),
        ),
      ),
    )
}

export interface WhoOptions extends OutputOptions {
  readonly by?: string
  readonly reason?: string
}

/** What a change of one thing has. */
export function withWho(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; kept in the audit (needed)')
    .option('--reason <text>', 'why; kept in the audit (needed)')
    .option('--json', 'print as JSON')
}

type ListOptions = PageOptions & Omit<JobsQuery, 'limit' | 'cursor'>

/** More the core gives in no page. */
const jobsAtMost = 500

async function list(environment: Environment, options: ListOptions): Promise<void> {
  const { place, state, queue, type, cursor } = options
  const limit = Math.min(options.limit, jobsAtMost)
  const { page, now } = await withJobs(environment, async ({ db, storage }) => ({
    page: await listJobs(storage, { place, state, queue, type, limit, cursor }),
    now: await readAsOf(db),
  }))
  await printPage(page, options, {
    columns: ['job', 'state', 'type', 'queue', 'tries', 'age', 'error'],
    whole: ['job', 'state'],
    row: (job) => [
      job.id,
      job.state,
      job.type,
      job.queue,
      job.attempts,
      ageText(job.createdAt, now),
      job.reason ?? job.lastError,
    ],
    empty: 'No jobs match.',
  })
}

async function show(environment: Environment, text: string, options: OutputOptions): Promise<void> {
  const id = readJobId(text)
  const job = await withJobs(environment, ({ storage }) => showJob(storage, id))
  if (job === undefined) {
    throw new AppError(
      'NOT_FOUND',
      `There is no job ${id}. Ended ones are deleted after CHOKAQ_RETENTION.`,
    )
  }
  if (options.json) return printJson(job)
  const { details, ...fields } = job
  await printFields({ ...fields, tags: fields.tags.join(', ') })
  if (details !== null) await printLine(`\ndetails\n${details}`)
}

async function act(
  environment: Environment,
  text: string,
  options: WhoOptions,
  action: (jobs: JobsAtHand, id: string, order: Order) => Promise<JobEnd>,
): Promise<0 | 1> {
  const id = readJobId(text)
  const order = readOrder(options, '--')
  const end = await withJobs(environment, (jobs) => action(jobs, id, order))
  if (options.json) await printJson({ jobId: id, ...end })
  else await printLine(end.done ? `${id}: ${end.note}` : `refused ${id}: ${end.why}`)
  return end.done ? 0 : 1
}

type ResurrectOptions = WhoOptions &
  Pick<JobEdits, 'payload' | 'priority'> & { readonly tags?: string }

function editsOf({ payload, priority, tags }: ResurrectOptions): JobEdits {
  return { payload, priority, tags: tags === undefined ? undefined : tagsOf(tags) }
}

/** An empty text stands for no tags. */
function tagsOf(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((tag) => tag.trim())
}

/** A ULID, in Crockford's letters. */
function readJobId(text: string): string {
  const id = text.toUpperCase()
  if (/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id)) return id
  throw new AppError(
    'INPUT_INVALID',
    `Not a job id: ${quoted(text)}. It looks like 01J9Z3K4M5N6P7Q8R9S0T1V2W3.`,
  )
}

const places = ['hot', 'archive', 'dlq'] as const
const states = [
  ...(['Pending', 'Fetched', 'Processing', 'Succeeded'] as const),
  ...(['Failed', 'Cancelled', 'Zombie'] as const),
] as const

function parsePlace(text: string): (typeof places)[number] {
  return parseOneOf(places, text)
}

function parseState(text: string): (typeof states)[number] {
  return parseOneOf(states, text)
}

function parseOneOf<T extends string>(known: readonly T[], text: string): T {
  const found = known.find((name) => name.toLowerCase() === text.toLowerCase())
  if (found === undefined) throw new InvalidArgumentError(`It is one of ${known.join(', ')}.`)
  return found
}

function parsePriority(text: string): number {
  const n = Number(text)
  if (!/^\d+$/.test(text) || n > 100)
    throw new InvalidArgumentError('It is a whole number from 0 to 100.')
  return n
}
