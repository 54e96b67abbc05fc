/**
 * What Prometheus's dashboards and rules expect of any Node process: processor, memory, descriptors, event
 * loop, collections. They are the process's and not a service's, so all services in it share one registry:
 * prom-client gives no way to end the watching that it begins with each.
 */

import { collectDefaultMetrics, Registry } from 'prom-client'

/**
 * A timer of this interval measures how late it is, and costs what it wakes the process for: at
 * prom-client's 10 ms half as much as all the rest of a service with nothing to do. A worker's loop may well
 * stand still for less than this.
 */
const eventLoopPrecisionMs = 50

/** Gauges by a counter's suffix, each no more than the sum of another one. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

let shared: Registry | undefined

export function processMetrics(): Registry {
  if (shared !== undefined) return shared
  const registry = new Registry()
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: eventLoopPrecisionMs,
  })
  for (const name of misnamed) registry.removeSingleMetric(name)
  return (shared = registry)
}
