/** The first page: is it fine, what waits, what happened lately. */

import { createPostgresStorage } from '../../../chokaq/index.js'
import { listAudit, type AuditLine } from '../../../operations/audit-trail.js'
import { listRuns, type RunLine } from '../../../operations/list-runs.js'
import {
  readThroughputSeries,
  seriesWindows,
  type SeriesWindow,
  type ThroughputSeries,
} from '../../../operations/throughput-series.js'
import { readOnly } from '../../api/read-only.js'
import type { Summary } from '../../api/schemas/action-answers.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Chart } from '../parts/chart.js'
import { Figure } from '../parts/figure.js'
import { OutcomeBadge } from '../parts/state-badges.js'
import { Table, type Column } from '../parts/table.js'
import { Count, countText, Id, Line, spanText, Time } from '../parts/text.js'
import { sendPage } from '../send-page.js'
import { one, valuesOf } from '../values.js'
import { verdictOf, type Verdict } from '../verdict.js'

/** Enough to see a pattern, and always so many lines high. */
const latest = 8
const usualWindow: SeriesWindow = '1h'

export function addOverviewPage(app: DeckServer, deck: DeckContext): void {
  const { db, config, summary, readiness } = deck
  const { relay } = config.outbox
  app.get('/', async (request, reply) => {
    const given = one(valuesOf(request.query), 'window')
    const window = seriesWindows.find((name) => name === given) ?? usualWindow
    const [seen, reasons, read] = await Promise.all([
      summary(),
      readiness(),
      readOnly(db, async (trx) => ({
        series: await readThroughputSeries(trx, createPostgresStorage({ db: trx }), {
          ...{ window, relay },
        }),
        runs: await listRuns(trx, { limit: latest }),
        audit: await listAudit(trx, { limit: latest }),
      })),
    ])
    const { series, runs, audit } = read
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
        <VerdictBox verdict={verdictOf(seen, reasons, config, Date.now())} seen={seen} />
        <Figures seen={seen} />
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
      </>,
    )
  })
}

function VerdictBox(props: { readonly verdict: Verdict; readonly seen: Summary }): JSX.Element {
  const { verdict, seen } = props
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
        {!seen.isCurrent && (
          <li
            safe
          >{`The database doesn't answer: figures of ${spanText(seen.ageSeconds)} ago.`}</li>
        )}
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

function Figures({ seen }: { readonly seen: Summary }): JSX.Element {
  const { provisions, outbox, lastRun, jobs } = seen
  const { backlog, poison, oldestAgeSeconds } = provisions
  return (
    <dl class="figure-row">
      <Figure
        name="Backlog"
        value={countText(backlog)}
        note={`${countText(provisions.failed)} failed, ${countText(provisions.stuck)} stuck`}
        href="/deck/provisions?state=Failed"
      />
      <Figure
        name="Oldest"
        value={oldestAgeSeconds === 0 ? '–' : spanText(oldestAgeSeconds)}
        note="that still has attempts"
      />
      <Figure
        name="Poison"
        value={countText(poison)}
        note="out of attempts"
        href="/deck/provisions?state=poison"
        {...(poison > 0 && { tone: 'bad' })}
      />
      <Figure {...publishing(outbox)} />
      <Figure
        name="Last cycle"
        value={lastRun?.durationMs == null ? '–' : spanText(lastRun.durationMs / 1_000)}
        note={
          lastRun === null
            ? 'none yet'
            : `${lastRun.outcome ?? 'running'}, ${countText(lastRun.provisioned)} made`
        }
        href="/deck/runs"
      />
      <Figure
        name="Jobs"
        value={countText(jobs.due + jobs.running)}
        note={`${countText(jobs.running)} running, ${countText(jobs.dead)} dead`}
        href="/deck/jobs"
      />
    </dl>
  )
}

function publishing(outbox: Summary['outbox']) {
  const href = '/deck/outbox'
  if (outbox.backlog === null) {
    const note = 'behind, of the slot that Debezium reads'
    return { name: 'Publish lag', value: `${countText(outbox.slotLagBytes ?? 0)} B`, note, href }
  }
  const waits = `${countText(outbox.backlog)} waiting, ${countText(outbox.parked)} parked`
  const value = outbox.backlog === 0 ? '–' : spanText(outbox.publishLagSeconds ?? 0)
  return {
    ...{ name: 'Publish lag', value, note: waits, href },
    ...(outbox.parked > 0 && { tone: 'bad' as const }),
  }
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
  { head: 'When', kind: 'time', cell: ({ at }) => <Time at={at} /> },
  { head: 'Who', kind: 'short', cell: ({ actor }) => <Line text={actor} /> },
  { head: 'What', kind: 'short', cell: ({ action }) => <Line text={action} /> },
  {
    head: 'To',
    kind: 'text',
    cell: ({ dealId, filter }) =>
      dealId === null ? (
        <Line text={filter} />
      ) : (
        <Id id={dealId} href={`/deck/provisions/${dealId}`} />
      ),
  },
]
