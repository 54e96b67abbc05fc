/** The retry core's metrics: promised names, by queue and type, with labels that can't grow without end. */

import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { failureReasons } from '../../../src/chokaq/index.js'
import { createJobMetrics, labelValuesAtMost } from '../../../src/telemetry/job-metrics.js'

const job = { queue: 'operations', type: 'provision.requeue.v1' }
const labels = 'queue="operations",type="provision.requeue.v1"'

function create() {
  const registry = new Registry()
  const metrics = createJobMetrics(registry)
  const samples = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return { metrics, samples }
}

describe("the jobs' metrics", () => {
  it('show the jobs that are expected at 0, so that a rate has a beginning', async () => {
    const { metrics, samples } = create()
    expect(await samples()).toEqual([])
    metrics.expect(job)
    expect(await samples()).toEqual([
      `chokaq_jobs_enqueued_total{${labels}} 0`,
      `chokaq_jobs_succeeded_total{${labels}} 0`,
      `chokaq_jobs_retried_total{${labels}} 0`,
      ...failureReasons.map((reason) => `chokaq_jobs_failed_total{${labels},reason="${reason}"} 0`),
      'chokaq_circuit_open{type="provision.requeue.v1"} 0',
    ])
  })

  it('count by the promised names', async () => {
    const { metrics, samples } = create()
    metrics.enqueued(job)
    metrics.succeeded(job, 0.3)
    metrics.retried(job)
    metrics.failed(job, 'Timeout')
    metrics.stateConflict(job, 'succeed')
    metrics.setQueues([{ name: 'operations', lagSeconds: 7, dead: 2 }])
    metrics.setCircuits(new Map([[job.type, 'half-open']]))
    const shown = await samples()
    for (const sample of [
      `chokaq_jobs_enqueued_total{${labels}} 1`,
      `chokaq_jobs_succeeded_total{${labels}} 1`,
      `chokaq_jobs_retried_total{${labels}} 1`,
      `chokaq_jobs_failed_total{${labels},reason="Timeout"} 1`,
      `chokaq_state_conflicts_total{${labels},move="succeed"} 1`,
      `chokaq_job_duration_seconds_sum{${labels}} 0.3`,
      'chokaq_queue_lag_seconds{queue="operations"} 7',
      'chokaq_jobs_dead{queue="operations"} 2',
      'chokaq_circuit_open{type="provision.requeue.v1"} 1',
    ]) {
      expect(shown).toContain(sample)
    }
  })

  it('put what comes after many queues under one name, and show the worst lag among them', async () => {
    const { metrics, samples } = create()
    const queues = Array.from({ length: labelValuesAtMost + 3 }, (_, n) => `q${n}`)
    for (const queue of queues) metrics.enqueued({ queue, type: 'a.v1' })
    metrics.setQueues(queues.map((name, lagSeconds) => ({ name, lagSeconds, dead: 1 })))
    const shown = await samples()
    expect(shown).toContain('chokaq_jobs_enqueued_total{queue="other",type="a.v1"} 3')
    expect(shown).toContain(`chokaq_queue_lag_seconds{queue="other"} ${labelValuesAtMost + 2}`)
    expect(shown).toContain('chokaq_jobs_dead{queue="other"} 3')
    expect(shown).toHaveLength(3 * (labelValuesAtMost + 1))
  })

  it('forget queues that are gone', async () => {
    const { metrics, samples } = create()
    metrics.setQueues([{ name: 'a', lagSeconds: 1, dead: 1 }])
    metrics.setQueues([{ name: 'b', lagSeconds: 2, dead: 0 }])
    expect(await samples()).toEqual([
      'chokaq_queue_lag_seconds{queue="b"} 2',
      'chokaq_jobs_dead{queue="b"} 0',
    ])
  })
})
