/** The promised names, there from the start, and the work that moves them. */

import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../../src/telemetry/metrics.js'

/** Samples without labels: the buckets of the histogram have one by nature. */
function parse(text: string): Record<string, number> {
  const samples = text.split('\n').map((line) => /^(messenger_\w+) (\S+)$/.exec(line))
  return Object.fromEntries(samples.flatMap((m) => (m?.[1] ? [[m[1], Number(m[2])]] : [])))
}

describe('the metrics', () => {
  it('are there from the start, without labels, at 0', async () => {
    const samples = parse((await createMetrics().render()).body)
    expect(samples).toEqual({
      messenger_chat_provision_failed: 0,
      messenger_chat_provision_oldest_age_seconds: 0,
      messenger_chat_provision_retried_total: 0,
      messenger_chat_provision_succeeded_total: 0,
      messenger_chat_provision_poison_total: 0,
      messenger_chat_provision_poison: 0,
      messenger_chat_provision_last_run_timestamp_seconds: 0,
      messenger_chat_provision_polling_interval_seconds: 0,
      messenger_chat_provision_cycle_duration_seconds_sum: 0,
      messenger_chat_provision_cycle_duration_seconds_count: 0,
      messenger_chat_provision_database_look_age_seconds: 0,
      messenger_intake_parked: 0,
      messenger_intake_parkings_total: 0,
      messenger_outbox_backlog: 0,
      messenger_outbox_publish_lag_seconds: 0,
      messenger_outbox_published_total: 0,
      messenger_outbox_stale_marks_total: 0,
      messenger_outbox_parkings_total: 0,
      messenger_outbox_parked: 0,
    })
  })

  it('follow the work', async () => {
    const metrics = createMetrics()
    metrics.provisioning.succeeded()
    metrics.provisioning.retried()
    metrics.provisioning.retried()
    metrics.provisioning.poison()
    metrics.provisioning.cycleCompleted(1.5)
    metrics.relay.published(500)
    metrics.relay.staleMarks(2)
    metrics.relay.parked(1)
    metrics.setPollingInterval(90)
    expect(parse((await metrics.render()).body)).toMatchObject({
      messenger_chat_provision_succeeded_total: 1,
      messenger_chat_provision_retried_total: 2,
      messenger_chat_provision_poison_total: 1,
      messenger_chat_provision_cycle_duration_seconds_sum: 1.5,
      messenger_chat_provision_cycle_duration_seconds_count: 1,
      messenger_outbox_published_total: 500,
      messenger_outbox_stale_marks_total: 2,
      messenger_outbox_parkings_total: 1,
      messenger_chat_provision_polling_interval_seconds: 90,
    })
  })

  it('of two services in one process are apart', async () => {
    const [one, other] = [createMetrics(), createMetrics()]
    one.provisioning.succeeded()
    expect(parse((await other.render()).body)).toMatchObject({
      messenger_chat_provision_succeeded_total: 0,
    })
  })
})
