/** `health` tells a container's engine what /healthz and /readyz say, by its exit code. */

import { afterEach, expect, it } from 'vitest'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { runCli, startCli, type RunningCli } from '../support/cli.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
let proxy: TcpProxy | undefined
let service: RunningCli | undefined

afterEach(async () => {
  service?.child.kill('SIGKILL')
  await service?.exited
  await proxy?.stop()
})

it.each(['0.0.0.0', '127.0.0.1'])('asks a service bound to %s', async (host) => {
  const { environment } = await start(host)
  expect(await runCli(['health'], environment)).toMatchObject({ exitCode: 0, stdout: 'ok\n' })
  await waitFor('readiness', async () => {
    const { exitCode } = await runCli(['health', '--ready'], environment)
    return exitCode === 0
  })
})

it('tells a service that lives from one that can work', async () => {
  const { environment } = await start('127.0.0.1')
  proxy?.cut()
  const ready = await waitFor('no readiness', async () => {
    const result = await runCli(['health', '--ready', '--json'], environment)
    return result.exitCode === 1 && result
  })
  const answer = JSON.parse(ready.stdout) as { ok: boolean; reasons: string[] }
  expect(answer.ok).toBe(false)
  expect(answer.reasons.join()).toContain('database')
  expect(await runCli(['health', '--json'], environment)).toMatchObject({
    exitCode: 0,
    stdout: '{"ok":true,"reasons":[]}\n',
  })
})

it('fails where nobody answers, and says where it asked', async () => {
  const port = await findFreePort()
  const { exitCode, stdout } = await runCli(['health'], { HTTP_PORT: String(port) })
  expect(exitCode).toBe(1)
  expect(stdout).toBe(`http://127.0.0.1:${port}/healthz gives no answer: ECONNREFUSED\n`)
})

it('refuses to guess a port that is picked anew at each start', async () => {
  expect(await runCli(['health'], { HTTP_PORT: '0' })).toMatchObject({ exitCode: 2, stdout: '' })
})

async function start(host: string): Promise<{ environment: Record<string, string> }> {
  proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
  const url = new URL(database().url)
  url.port = String(proxy.port)
  const environment = {
    HTTP_HOST: host,
    HTTP_PORT: String(await findFreePort()),
    OUTBOX_RELAY: 'stdout',
    DATABASE_URL: url.href,
  }
  service = startCli(['serve'], environment)
  await service.logged('http listening')
  return { environment }
}
