/** The first page: is it fine, what waits, what happened lately. */

import { createPostgresStorage } from '../../../chokaq/index.js'
import { listAudit, type AuditLine } from '../../../operations/audit-trail.js'
import { listRuns, type RunLine } from '../../../operations/list-runs.js'
import type { Page } from '../../../operations/page.js'
import {
  readThroughputSeries,
  seriesWindows,
  type SeriesWindow,
  type ThroughputSeries,
} from '../../../operations/throughput-series.js'
import { readOnly } from '../../api/read-only.js'
import type { DeckContext, DeckServer } from '../context.js'
import { problemOfError } from '../../problem-of-error.js'
import { Chart } from '../parts/chart.js'
import { Empty } from '../parts/empty.js'
import { SummaryFigures } from '../parts/summary-figures.js'
import { OutcomeBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, Id, Line, Time } from '../parts/text.js'
import { sendPage } from '../send-page.js'
import { one, valuesOf } from '../values.js'
import { verdictOf, type Verdict } from '../verdict.js'

/** Enough to see a pattern, and always so many lines high. */
const latest = 8
const usualWindow: SeriesWindow = '1h'

export function addOverviewPage(app: DeckServer, deck: DeckContext): void {
  const { config, summary, readiness } = deck
  app.get('/', async (request, reply) => {
    const given = one(valuesOf(request.query), 'window')
    const window = seriesWindows.find((name) => name === given) ?? usualWindow
    const [seen, reasons, lately] = await Promise.all([
      summary(),
      readiness(),
      readLately(deck, window).catch(whyNot),
    ])
    return sendPage(
      request,
      reply,
      {
        title: 'Overview',
        section: 'overview',
        watch: ['provisions', 'outbox', 'jobs', 'queues', 'runs'],
      },
      <>
        <h1 class="unseen">Overview</h1>
        <VerdictBox verdict={verdictOf(seen, reasons, config, Date.now())} />
        <SummaryFigures seen={seen} />
        {'why' in lately ? (
          <Empty text={`What happened lately can't be read: ${lately.why}`} />
        ) : (
          <Lately lately={lately} />
        )}
      </>,
    )
  })
}

interface Lately {
  readonly series: ThroughputSeries
  readonly runs: Page<RunLine>
  readonly audit: Page<AuditLine>
}

function readLately({ db, config }: DeckContext, window: SeriesWindow): Promise<Lately> {
  const { relay } = config.outbox
  return readOnly(db, async (trx) => ({
    series: await readThroughputSeries(trx, createPostgresStorage({ db: trx }), { window, relay }),
    runs: await listRuns(trx, { limit: latest }),
    audit: await listAudit(trx, { limit: latest }),
  }))
}

/** Without the database the last figures are shown all the same. */
function whyNot(error: unknown): { readonly why: string } {
  const known = problemOfError(error)
  if (known?.status !== 503) throw error
  return { why: known.detail ?? known.title }
}

function Lately({ lately }: { readonly lately: Lately }): JSX.Element {
  const { series, runs, audit } = lately
  return (
    <>
      <Charts series={series} />
      <div class="columns">
        <section>
          <h2>
            Last cycles <a href="/deck/runs">All</a>
          </h2>
          <div class="reserved">
            <Table
              caption="The last cycles"
              columns={runColumns}
              items={runs.items}
              empty="No cycle has run yet."
            />
          </div>
        </section>
        <section>
          <h2>What operators did</h2>
          <div class="reserved">
            <Table
              caption="What operators did last"
              columns={auditColumns}
              items={audit.items}
              empty="Nobody has changed anything yet."
            />
          </div>
        </section>
      </div>
    </>
  )
}

function VerdictBox({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const word = { good: 'Fine', warn: 'Look', bad: 'Act' }[verdict.tone]
  return (
    <section class={['verdict', verdict.tone]} aria-label="Is it fine?">
      <p class="sentence">
        <strong class="word" safe>
          {word}
        </strong>
        <span safe>{verdict.sentence}</span>
      </p>
      <ul>
        {verdict.findings.map(({ text, href }) => (
          <li>
            {href === undefined ? (
              <span safe>{text}</span>
            ) : (
              <a href={href} safe>
                {text}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Charts({ series }: { readonly series: ThroughputSeries }): JSX.Element {
  const { at, provisions, published, jobs, window } = series
  return (
    <section>
      <h2>
        Over time
        {seriesWindows.map((name) => (
          <a href={`/deck?window=${name}`} aria-current={name === window && 'true'}>
            {name}
          </a>
        ))}
      </h2>
      <div class="charts">
        <Chart
          title="Chats"
          at={at}
          series={[
            { name: 'made', tone: 'good', values: provisions.provisioned },
            { name: 'to be retried', tone: 'warn', values: provisions.retried },
            { name: 'poison', tone: 'bad', values: provisions.failed },
          ]}
        />
        {published !== null && (
          <Chart
            title="Events"
            at={at}
            series={[{ name: 'published', tone: 'accent', values: published }]}
          />
        )}
        <Chart
          title="Jobs"
          at={at}
          series={[
            { name: 'done', tone: 'good', values: jobs.succeeded },
            { name: 'to be retried', tone: 'warn', values: jobs.retried },
            { name: 'dead', tone: 'bad', values: jobs.failed },
          ]}
        />
      </div>
    </section>
  )
}

const runColumns: readonly Column<RunLine>[] = [
  { head: 'Started', kind: 'time', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { head: 'Outcome', kind: 'state', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { head: 'Made', kind: 'number', cell: ({ provisioned }) => <Count count={provisioned} /> },
  { head: 'Retried', kind: 'number', cell: ({ retried }) => <Count count={retried} /> },
  { head: 'Poison', kind: 'number', cell: ({ failed }) => <Count count={failed} /> },
]

const auditColumns: readonly Column<AuditLine>[] = [
  { head: 'At', kind: 'time', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', kind: 'word', cell: ({ actor }) => <Line text={actor} /> },
  { head: 'Action', kind: 'word', cell: ({ action }) => <Line text={action} /> },
  {
    head: 'Deal or filter',
    kind: 'text',
    cell: ({ dealId, filter }) =>
      dealId === null ? (
        <Line text={filter} />
      ) : (
        <Id id={dealId} href={`/deck/provisions/${dealId}`} />
      ),
  },
]
