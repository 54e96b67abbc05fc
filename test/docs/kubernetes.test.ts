/** deploy/kubernetes: what Kubernetes takes, with options that the service takes, and parts that fit. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/config/load-config.js'
import { projectRoot } from '../support/documents.js'
import { kubernetesFaults, missingKubernetesValidate } from '../support/kubernetes-validate.js'
import { mustRun } from '../support/must-run.js'

const folder = join(projectRoot, 'deploy/kubernetes')
/** The oldest that is still maintained, and the newest. */
const versions = ['1.34', '1.37']

interface Container {
  readonly image: string
  readonly args?: string[]
  readonly env: { name: string; value: string }[]
  readonly volumeMounts: { name: string; mountPath: string }[]
  readonly livenessProbe?: { httpGet: { path: string; port: string } }
  readonly readinessProbe?: { httpGet: { path: string; port: string } }
}

interface PodSpec {
  readonly terminationGracePeriodSeconds?: number
  readonly containers: Container[]
  readonly volumes: { name: string; secret: { secretName: string } }[]
}

interface Manifest {
  readonly kind: string
  readonly metadata: { name: string }
  readonly resources?: string[]
  readonly data?: Record<string, string>
  readonly stringData?: Record<string, string>
  readonly spec?: {
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec }
    selector?: Record<string, unknown>
    podSelector?: Record<string, unknown>
  }
}

async function read(file: string): Promise<Manifest[]> {
  const text = await readFile(join(folder, file), 'utf8')
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest)
}

const files = (await readdir(folder, { recursive: true })).filter((file) => /\.yaml$/.test(file))
const [options] = await read('options.yaml')
const [deployment] = await read('deployment.yaml')
const [job] = await read('migrate/job.yaml')
const secrets = await read('secrets.example.yaml')

function podOf(manifest: Manifest | undefined): PodSpec {
  const pod = manifest?.spec?.template?.spec
  if (pod === undefined) throw new Error('there is no pod in it')
  return pod
}

/** The environment of a container, its secrets' files in a folder of this test. */
async function environmentOf(pod: PodSpec, secretsFolder: string): Promise<Record<string, string>> {
  const environment: Record<string, string> = {}
  for (const { name, value } of pod.containers[0]?.env ?? []) {
    const mount = pod.containers[0]?.volumeMounts.find(({ mountPath }) =>
      value.startsWith(`${mountPath}/`),
    )
    const volume = pod.volumes.find((each) => each.name === mount?.name)
    const secret = secrets.find(({ metadata }) => metadata.name === volume?.secret.secretName)
    const text = secret?.stringData?.[basename(value)]
    if (text === undefined) throw new Error(`no secret has the file ${value}`)
    const file = join(secretsFolder, name)
    await writeFile(file, text)
    environment[name] = file
  }
  return environment
}

let secretsFolder: string
beforeAll(async () => {
  secretsFolder = await mkdtemp(join(tmpdir(), 'chat-provision-retry-secrets-'))
})
afterAll(() => rm(secretsFolder, { recursive: true }))

describe('deploy/kubernetes', () => {
  it('gives the worker options that it takes, secrets as files', async () => {
    const pod = podOf(deployment)
    const environment = { ...options?.data, ...(await environmentOf(pod, secretsFolder)) }
    const config = loadConfig(environment, { database: true, kafka: true, http: true })
    expect(config.database.url).toMatch(/^postgres:/)
    expect(config.deck.readToken).toMatch(/./)
    expect(config.http.host).toBe('0.0.0.0')
    const grace = (pod.terminationGracePeriodSeconds ?? 0) * 1000
    expect(grace).toBeGreaterThan(config.shutdownGraceMs)
  })

  it('gives the migration the owner’s address, and the worker’s image', async () => {
    const pod = podOf(job)
    const environment = await environmentOf(pod, secretsFolder)
    const config = loadConfig(environment, { database: true, kafka: false, http: false })
    expect(config.database.url).toMatch(/^postgres:\/\/owner/)
    expect(pod.containers[0]?.args).toEqual(['migrate', 'up'])
    expect(pod.containers[0]?.image).toBe(podOf(deployment).containers[0]?.image)
  })

  it('probes what the service answers', () => {
    const [container] = podOf(deployment).containers
    expect(container?.livenessProbe?.httpGet.path).toBe('/healthz')
    expect(container?.readinessProbe?.httpGet.path).toBe('/readyz')
  })

  it('selects the worker’s pods, and never the migration’s, wherever it selects', async () => {
    const labels = deployment?.spec?.template?.metadata.labels
    expect(labels).not.toEqual(job?.spec?.template?.metadata.labels)
    const [service] = await read('service.yaml')
    expect(service?.spec?.selector).toEqual(labels)
    for (const [file, field] of [
      ['deployment.yaml', 'selector'],
      ['disruption-budget.yaml', 'selector'],
      ['network-policy.yaml', 'podSelector'],
      ['monitoring/service-monitor.yaml', 'selector'],
    ] as const) {
      expect((await read(file))[0]?.spec?.[field], file).toEqual({ matchLabels: labels })
    }
  })

  it('names each manifest in its kustomization, the examples aside', async () => {
    const [base] = await read('kustomization.yaml')
    const apart = ['kustomization.yaml', 'secrets.example.yaml']
    const here = files.filter((file) => !file.includes('/') && !apart.includes(file))
    expect([...(base?.resources ?? [])].sort()).toEqual(here.sort())
    const [migrate] = await read('migrate/kustomization.yaml')
    expect(migrate?.resources).toEqual(['job.yaml'])
  })
})

mustRun(
  'kubernetes-validate',
  missingKubernetesValidate,
  describe,
)('deploy/kubernetes', () => {
  /** Kinds that Kubernetes itself has no schema for: kustomize's, and the Prometheus operator's. */
  const own = files
    .filter((file) => !/kustomization|service-monitor/.test(file))
    .map((file) => join(folder, file))

  it.each(versions)('holds to the schemas of Kubernetes %s', async (version) => {
    expect(own.length).toBeGreaterThan(7)
    expect(await kubernetesFaults(version, own)).toEqual([])
  })

  it('would notice a misspelled field', async () => {
    const text = await readFile(join(folder, 'deployment.yaml'), 'utf8')
    const file = join(secretsFolder, 'misspelled.yaml')
    await writeFile(file, text.replace('replicas:', 'replica:'))
    const [fault = ''] = await kubernetesFaults('1.34', [file])
    expect(fault).toContain("'replica' was unexpected")
  })
})
