/** The process's own metrics, by the names that Prometheus's dashboards and rules know. */

import { PerformanceObserver } from 'node:perf_hooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { describeWithPrometheus, runPromtool } from '../../support/promtool.js'

const render = async (metrics = createMetrics({ ofProcess: true })): Promise<string> =>
  (await metrics.render()).body

afterEach(() => void vi.restoreAllMocks())

describe('the metrics of the process', () => {
  it('tell of processor, memory, descriptors, event loop and collections', async () => {
    const text = await render()
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      ...(process.platform === 'linux' ? ['process_open_fds', 'process_max_fds'] : []),
      'nodejs_eventloop_lag_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_total_bytes',
      'nodejs_heap_size_used_bytes',
      'nodejs_external_memory_bytes',
    ])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'))
    expect(text).toContain('# TYPE nodejs_gc_duration_seconds histogram')
  })

  it('stand beside the ones of the service, and only where they are asked for', async () => {
    expect(await render()).toContain('\nmessenger_chat_provision_failed 0\n')
    expect(await render(createMetrics())).not.toMatch(/process_|nodejs_/)
  })

  it('are watched once, however many services the process has had', async () => {
    await render()
    const observe = vi.spyOn(PerformanceObserver.prototype, 'observe')
    const [one, other] = [await render(), await render()]
    expect(observe).not.toHaveBeenCalled()
    expect(one.match(/^# TYPE /gm)).toEqual(other.match(/^# TYPE /gm))
  })
})

describeWithPrometheus('promtool', () => {
  it.each(['kafka', 'off'] as const)(
    'has nothing to say of what is exposed where the relay is %s',
    async (relay) => {
      const metrics = createMetrics({ relay, ofProcess: true })
      metrics.jobs.expect({ queue: 'operations', type: 'provision.requeue.v1' })
      const checked = await runPromtool(['check', 'metrics'], await render(metrics))
      expect(checked).toEqual({ exitCode: 0, output: '' })
    },
  )
})
