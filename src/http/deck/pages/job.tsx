/** One durable job: what it was told, how far it is, why it is dead. */

import type { JobDetail } from '../../../operations/list-jobs.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Facts } from '../parts/facts.js'
import { JobBadge } from '../parts/state-badges.js'
import { Id, spanText } from '../parts/text.js'
import { sendPage, visitorOf } from '../send-page.js'
import { jobIdOf, readJob } from '../read-job.js'
import { addJobActions } from './job-actions.js'

export function addJobPage(app: DeckServer, deck: DeckContext): void {
  app.get('/jobs/:id', async (request, reply) => {
    const job = await readJob(deck, jobIdOf(request))
    return sendPage(
      request,
      reply,
      { title: 'Job', section: 'jobs', watch: ['jobs'] },
      <>
        <div class="bar">
          <h1>Job</h1>
          <Id id={job.id} />
          <JobBadge state={job.state} />
        </div>
        {visitorOf(request).canChange && <Actions job={job} />}
        <JobFacts job={job} />
        <Text title="Payload" text={job.payload} />
        <Text title="What came of it" text={job.checkpoint} />
        <Text title="Failure" text={job.details ?? job.lastError} />
      </>,
    )
  })
  addJobActions(app, deck)
}

function Actions({ job: { id, place, state } }: { readonly job: JobDetail }): JSX.Element {
  return (
    <p class="buttons">
      {place === 'hot' && <a href={`/deck/jobs/${id}/cancel`}>Cancel</a>}
      {state === 'Pending' && <a href={`/deck/jobs/${id}/priority`}>Change priority</a>}
      {place === 'dlq' && <a href={`/deck/jobs/${id}/resurrect`}>Edit and resurrect</a>}
    </p>
  )
}

function Text({
  title,
  text,
}: {
  readonly title: string
  readonly text: string | null
}): JSX.Element {
  if (text === null) return <></>
  return (
    <section>
      <h2 safe>{title}</h2>
      <pre class="payload" tabindex="0" aria-label={title} safe>
        {text}
      </pre>
    </section>
  )
}

function JobFacts({ job }: { readonly job: JobDetail }): JSX.Element {
  const texts = [
    ['Type', job.type],
    ['Queue', job.queue],
    ['Priority', String(job.priority)],
    ['Runs', String(job.attempts)],
    ['Progress', job.progress === null ? null : `${job.progress} %`],
    ['Took', job.durationMs === null ? null : spanText(job.durationMs / 1_000)],
    ['Why dead', job.reason],
    ['Tags', job.tags.join(', ')],
    ['Made by', job.createdBy],
    ['Changed by', job.modifiedBy],
    ['Cancel asked by', job.cancelRequestedBy],
    ['Owner', job.owner],
    ['Key', job.idempotencyKey],
  ] as const
  const times = [
    ['Made', job.createdAt],
    ['Due', job.dueAt],
    ['Started', job.startedAt],
    ['Ended', job.finishedAt],
  ] as const
  return (
    <dl class="facts">
      <Facts {...{ texts, times }} />
    </dl>
  )
}
