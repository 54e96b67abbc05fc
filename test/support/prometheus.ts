/** Debian's Prometheus on one target, with the shipped alert rules and intervals of a second. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { makeTemporaryFolder } from '../../src/demo/servers/server-cache.js'
import { startServerProcess } from '../../src/demo/servers/server-process.js'
import { rulesFile } from './alert-rules.js'
import { prometheusProgram } from './promtool.js'
import { waitFor } from './wait-for.js'

/** It ends within a second; what takes longer is stuck. */
const stopTimeoutMs = 10_000

export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface Prometheus {
  /** The values of an expression, now. */
  query(expression: string): Promise<number[]>
  /** Pending ones aside. */
  firing(): Promise<FiringAlert[]>
  stop(): Promise<void>
}

/** @param address of the service, such as http://127.0.0.1:8080 */
export async function startPrometheus(address: string): Promise<Prometheus> {
  if (prometheusProgram === undefined) throw new Error('prometheus is not installed')
  const port = await findFreePort()
  const folder = await makeTemporaryFolder('chat-provision-retry-prometheus-')
  const configFile = join(folder, 'prometheus.yml')
  await writeFile(configFile, configuration(new URL(address).host))
  const server = await startServerProcess({
    command: prometheusProgram,
    args: [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    orphanSignal: 'TERM',
    orphanFolder: folder,
  })
  const stop = async (): Promise<void> => {
    await server.end('SIGTERM', stopTimeoutMs)
    await rm(folder, { recursive: true, force: true })
  }
  const api = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    return ((await response.json()) as { data: T }).data
  }
  const query = async (expression: string): Promise<number[]> => {
    const path = `query?query=${encodeURIComponent(expression)}`
    const { result } = await api<{ result: { value: [number, string] }[] }>(path)
    return result.map(({ value }) => Number(value[1]))
  }
  try {
    await waitFor('Prometheus to scrape the service', async () => (await query('up'))[0] === 1)
  } catch (cause) {
    await stop()
    throw new Error(`Prometheus did not start:\n${server.lastLines()}`, { cause })
  }
  return {
    query,
    stop,
    async firing() {
      const { alerts } = await api<{ alerts: (FiringAlert & { state: string })[] }>('alerts')
      return alerts.filter(({ state }) => state === 'firing')
    },
  }
}

function configuration(target: string): string {
  return stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rulesFile],
    scrape_configs: [{ job_name: 'worker', static_configs: [{ targets: [target] }] }],
  })
}
