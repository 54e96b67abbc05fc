/** Prometheus and Grafana of docker-compose.yml get the shipped rules and dashboard, and find each other. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { projectRoot } from '../support/documents.js'
import { describeWithPrometheus, runPromtool } from '../support/promtool.js'

async function readYaml<T>(path: string): Promise<T> {
  return parse(await readFile(join(projectRoot, path), 'utf8')) as T
}

const { services } = await readYaml<{ services: Record<string, { volumes?: string[] }> }>(
  'docker-compose.yml',
)

/** The file or folder of this project that a container sees at a path. */
function behind(service: string, path: string): string {
  for (const volume of services[service]?.volumes ?? []) {
    const [source = '', target = ''] = volume.split(':')
    if (path === target || path.startsWith(`${target}/`))
      return join(source, path.slice(target.length))
  }
  throw new Error(`nothing is mounted at ${path} of ${service}`)
}

const prometheusConfig = behind('prometheus', '/etc/prometheus/prometheus.yml')

describe('docker-compose.yml', () => {
  it('mounts only what is there', () => {
    const sources = Object.values(services).flatMap(({ volumes }) =>
      (volumes ?? []).map((volume) => volume.split(':')[0] ?? ''),
    )
    // Others are names of volumes.
    const paths = sources.filter((source) => source.startsWith('.'))
    expect(paths.length).toBeGreaterThan(4)
    expect(paths.filter((source) => !existsSync(join(projectRoot, source)))).toEqual([])
  })

  it('gives Prometheus the alert rules, and the worker to scrape', async () => {
    const config = await readYaml<{
      rule_files: string[]
      scrape_configs: { static_configs: { targets: string[] }[] }[]
    }>(prometheusConfig)
    const [rules = ''] = config.rule_files.map((path) => behind('prometheus', path))
    expect(rules).toBe('runbooks/alerts/*.rules.yml')
    const [target = ''] = config.scrape_configs[0]?.static_configs[0]?.targets ?? []
    expect(Object.keys(services)).toContain(target.split(':')[0])
  })

  it('gives Grafana the dashboard, and Prometheus to ask', async () => {
    const provisioning = '/etc/grafana/provisioning'
    const { providers } = await readYaml<{ providers: { options: { path: string } }[] }>(
      join(behind('grafana', `${provisioning}/dashboards`), 'chat-provision-retry.yml'),
    )
    const folder = behind('grafana', providers[0]?.options.path ?? '')
    expect(existsSync(join(projectRoot, folder, 'chat-provision-retry.json'))).toBe(true)
    const { datasources } = await readYaml<{ datasources: { url: string; type: string }[] }>(
      join(behind('grafana', `${provisioning}/datasources`), 'prometheus.yml'),
    )
    expect(datasources).toMatchObject([{ type: 'prometheus' }])
    expect(Object.keys(services)).toContain(new URL(datasources[0]?.url ?? '').hostname)
  })
})

describeWithPrometheus('docker-compose.yml', () => {
  it('has a configuration that Prometheus takes', async () => {
    const file = join(projectRoot, prometheusConfig)
    expect(await runPromtool(['check', 'config', file])).toMatchObject({ exitCode: 0 })
  })
})
