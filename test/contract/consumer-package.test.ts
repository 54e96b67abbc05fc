/** The consumer kit stands on its own, wherever it is copied or installed to. */

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const run = promisify(execFile)
const kit = fileURLToPath(new URL('../../contracts/consumer/', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))

/** What someone writes who has installed it. */
const program = `
  import { handleMessage } from 'deal-chat-status-consumer/handle-message'
  import { startConsumer } from 'deal-chat-status-consumer/kafka-consumer'
  import { MemoryStatusStore } from 'deal-chat-status-consumer/status-store'
  import { runScenario, scenarios } from 'deal-chat-status-consumer/test-kit'
  for (const scenario of scenarios) {
    const store = new MemoryStatusStore()
    const handle = (message) => handleMessage(message, store, () => Promise.resolve())
    await runScenario(scenario, { handle, statusOf: (deal) => Promise.resolve(store.get(deal)) })
  }
  console.log(typeof startConsumer, scenarios.length > 0)
`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consumer-kit-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('builds outside of this repository, and runs as a package', async () => {
  const copy = join(folder, 'kit')
  await cp(kit, copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) })
  await symlink(modules, join(copy, 'node_modules'))
  await run(process.execPath, [join(modules, 'typescript/bin/tsc')], { cwd: copy })

  const app = join(folder, 'app')
  await mkdir(join(app, 'node_modules'), { recursive: true })
  await symlink(copy, join(app, 'node_modules/deal-chat-status-consumer'))
  await writeFile(join(app, 'main.mjs'), program)
  const { stdout } = await run(process.execPath, [join(app, 'main.mjs')])
  expect(stdout).toBe('function true\n')
})
