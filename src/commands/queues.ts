/** `queues list|pause|resume|set`: the queues of durable jobs and their limits. */

import { InvalidArgumentError, type Command } from 'commander'
import type { Config } from '../config/config.js'
import { parseDuration } from '../config/duration.js'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import { changeQueue, refuseUnknownQueue, type QueueChanges } from '../operations/act-on-jobs.js'
import { listKnownQueues } from '../operations/known-queues.js'
import { readOrder } from '../operations/read-input.js'
import { durationText } from './age.js'
import { withWho, type WhoOptions } from './jobs.js'
import { withExamples, type OutputOptions } from './operator-options.js'
import { printJson, printLine, printTable } from './output.js'
import { withJobs } from './with-jobs.js'

export function addQueues(program: Command, environment: Environment): void {
  const queues = program.command('queues').description('look at the queues of durable jobs')

  withExamples(queues.command('list'), 'queues list')
    .description('each queue: what waits, runs and is dead, and its limits')
    .option('--json', 'print an array')
    .action((options: OutputOptions) => list(environment, options))

  withExamples(
    withWho(queues.command('pause <name>')),
    'queues pause default --by anna --reason "the database is moved"',
  )
    .description('begin no more jobs of the queue; what runs goes on')
    .action((name: string, options: WhoOptions) =>
      change(environment, name, { paused: true }, options),
    )

  withExamples(
    withWho(queues.command('resume <name>')),
    'queues resume default --by anna --reason "the database is back"',
  )
    .description('begin jobs of the queue again')
    .action((name: string, options: WhoOptions) =>
      change(environment, name, { paused: false }, options),
    )

  withExamples(
    withWho(
      queues
        .command('set <name>')
        .option(
          '--max-workers <n>',
          'jobs at once among all instances; none: no limit',
          parseWorkers,
        )
        .option(
          '--zombie-timeout <duration>',
          'silent for so long, a job is dead; above CHOKAQ_HEARTBEAT_MAX; none: the default',
          parseTimeout,
        ),
    ),
    'queues set default --max-workers 3 --by anna --reason "spare the database"',
  )
    .description('change the limits of the queue')
    .action((name: string, options: SetOptions) => set(environment, name, options))
}

async function list(environment: Environment, options: OutputOptions): Promise<void> {
  const found = await withJobs(environment, ({ storage, config }) =>
    listKnownQueues(storage, config.chokaq),
  )
  const queues = found.map(({ settings, ...queue }) => {
    const { paused, maxWorkers = null, zombieTimeoutMs = null, timeoutMs = null } = settings
    return { ...queue, paused, maxWorkers, zombieTimeoutMs, timeoutMs }
  })
  if (options.json) return printJson(queues)
  await printTable(
    ['queue', 'due', 'later', 'runs', 'dead', 'lag', 'paused', 'workers', 'zombie'],
    queues.map((queue) => [
      queue.name,
      queue.due,
      queue.scheduled,
      queue.fetched + queue.processing,
      queue.dead,
      durationText(queue.lagSeconds * 1_000),
      queue.paused ? 'paused' : '-',
      queue.maxWorkers ?? 'any',
      queue.zombieTimeoutMs === null ? 'default' : durationText(queue.zombieTimeoutMs),
    ]),
  )
}

type SetOptions = WhoOptions & {
  readonly maxWorkers?: Limit
  readonly zombieTimeout?: Limit
}

async function set(environment: Environment, name: string, options: SetOptions): Promise<void> {
  const { maxWorkers, zombieTimeout } = options
  if (maxWorkers === undefined && zombieTimeout === undefined) {
    throw new AppError('USAGE', 'Say what to set: --max-workers or --zombie-timeout.')
  }
  const changes = { maxWorkers: limitOf(maxWorkers), zombieTimeoutMs: limitOf(zombieTimeout) }
  await change(environment, name, changes, options)
}

async function change(
  environment: Environment,
  name: string,
  changes: QueueChanges,
  options: WhoOptions,
): Promise<void> {
  const order = readOrder(options, '--')
  const settings = await withJobs(environment, async (jobs) => {
    refuseTooShort(changes, jobs.config)
    refuseUnknownQueue(name, await listKnownQueues(jobs.storage, jobs.config.chokaq))
    return changeQueue(jobs, name, changes, order)
  })
  const { paused, maxWorkers = null, zombieTimeoutMs = null, timeoutMs = null } = settings
  const now = { name, paused, maxWorkers, zombieTimeoutMs, timeoutMs }
  if (options.json) return printJson(now)
  const workers = maxWorkers === null ? 'any number of workers' : `at most ${maxWorkers} workers`
  await printLine(`${name}: ${paused ? 'paused' : 'open'}, ${workers}`)
}

/** As for CHOKAQ_QUEUES: a job that lives is heard of no sooner than the longest heartbeat. */
function refuseTooShort({ zombieTimeoutMs }: QueueChanges, { chokaq }: Config): void {
  const { heartbeatMaxMs } = chokaq
  if (typeof zombieTimeoutMs !== 'number' || zombieTimeoutMs > heartbeatMaxMs) return
  throw new AppError(
    'INPUT_INVALID',
    `--zombie-timeout must be above ${heartbeatMaxMs}ms, CHOKAQ_HEARTBEAT_MAX, or jobs that live ` +
      'would be taken for dead.',
  )
}

/** As a word, for the parser takes a null for an option without a value. */
type Limit = number | 'none'

/** Null takes the limit away, undefined leaves it as it is. */
function limitOf(limit: Limit | undefined): number | null | undefined {
  return limit === 'none' ? null : limit
}

function parseWorkers(text: string): Limit {
  if (text === 'none') return text
  const n = Number(text)
  if (/^\d+$/.test(text) && n >= 1 && n <= 10_000) return n
  throw new InvalidArgumentError('It is a whole number from 1 to 10000, or none.')
}

function parseTimeout(text: string): Limit {
  if (text === 'none') return text
  const ms = parseDuration(text)
  if (ms !== undefined && ms > 0) return ms
  throw new InvalidArgumentError('It is a duration such as 90s, 40m or 2h, or none.')
}
