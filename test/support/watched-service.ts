/** The service with a real Prometheus at it, and on-call's terminal beside them. */

import { readAlertRules } from './alert-rules.js'
import { startCli, type RunningCli } from './cli.js'
import { startPrometheus, type FiringAlert, type Prometheus } from './prometheus.js'
import { openRunbookShell, type RunbookShell } from './runbook-shell.js'

export interface WatchedService {
  readonly service: RunningCli
  readonly prometheus: Prometheus
  readonly shell: RunbookShell
  readonly firing: (alert: string) => Promise<FiringAlert | undefined>
  /** Whether the alert's condition holds now; it fires once that has lasted for its `for`. */
  readonly holds: (alert: string) => Promise<boolean>
  /** Where the alert sends on-call to. */
  readonly runbookOf: (alert: string) => Promise<string>
  stop(): Promise<void>
}

export async function startWatchedService(
  options: Readonly<Record<string, string>>,
): Promise<WatchedService> {
  const environment = { OUTBOX_RELAY: 'stdout', HTTP_PORT: '0', ...options }
  const opened: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of opened.splice(0).reverse()) await close()
  }
  try {
    const service = startCli(['serve'], environment)
    opened.push(async () => {
      service.child.kill('SIGTERM')
      await service.exited
    })
    const address = String((await service.logged('http listening'))['address'])
    const prometheus = await startPrometheus(address)
    opened.push(() => prometheus.stop())
    const shell = await openRunbookShell(environment, address)
    opened.push(() => shell.remove())
    return {
      service,
      prometheus,
      shell,
      firing: async (name) =>
        (await prometheus.firing()).find(({ labels }) => labels['alertname'] === name),
      holds: async (name) => (await prometheus.query((await ruleOf(name)).expr)).length > 0,
      runbookOf: async (name) => (await ruleOf(name)).annotations['runbook_url'] ?? '',
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function ruleOf(name: string) {
  const rule = (await readAlertRules()).find(({ alert }) => alert === name)
  if (rule === undefined) throw new Error(`there is no alert ${name}`)
  return rule
}
