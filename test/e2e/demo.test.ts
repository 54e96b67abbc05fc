/** `demo` from outside: it ends well on each way for the events that can be had here, and cleans up. */

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dealKinds } from '../../src/demo/deal-kinds.js'
import { runCli, startCli } from '../support/cli.js'
import { describeWithKafka, kafkaBrokers } from '../support/kafka.js'
import { waitFor } from '../support/wait-for.js'

/** Servers start and three attempts are made within some 15 s; here, beside other test files. */
const timeoutMs = 120_000

let folder: string
/** Of a machine with nothing but Node and what every system has: neither Docker nor Java. */
let env: { PATH: string; TMPDIR: string }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-test-'))
  const bin = await mkdtemp(join(folder, 'bin-'))
  await symlink(process.execPath, join(bin, 'node'))
  for (const program of ['sh', 'id', 'rm', 'sleep']) {
    const path = execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' })
    await symlink(path.trim(), join(bin, program))
  }
  const temporary = await mkdtemp(join(folder, 'tmp-'))
  // Run as root, the servers' own user must be able to enter.
  await chmod(folder, 0o755)
  await chmod(temporary, 0o755)
  env = { PATH: bin, TMPDIR: temporary }
})

afterAll(() => rm(folder, { recursive: true }))

/** Data, logs, sockets: whatever the demo made is gone when it has ended. */
afterEach(async () => {
  expect(await readdir(env.TMPDIR)).toEqual([])
})

async function dealFile(...lines: string[]): Promise<string> {
  const path = join(folder, `${randomUUID()}.jsonl`)
  await writeFile(path, lines.join('\n'))
  return path
}

function deal(changes: Record<string, unknown> = {}): string {
  const Members = [{ UserId: randomUUID(), Role: 'Owner' }]
  return JSON.stringify({ DealId: randomUUID(), Title: 'Объект №7', Members, ...changes })
}

const whole = { timeout: timeoutMs }

describe('demo without Docker and Java', () => {
  it(
    'takes the stdout relay, says why, and finds every deal of every kind in place',
    whole,
    async () => {
      const { exitCode, stdout, stderr } = await runCli(['demo', '--deals', '40', '--exit'], env)
      expect(stderr).toBe('')
      expect(stdout).toMatch(/passed over KAFKA_BROKERS: it is not set/)
      expect(stdout).toMatch(/passed over Docker: there is no docker command/)
      expect(stdout).toMatch(/passed over Java: there is no Java/)
      expect(stdout).toMatch(/The worker was killed \(kill -9\) in the middle of a deal/)
      for (const { name } of dealKinds) {
        expect(stdout).toMatch(new RegExp(`^${name} .* ok$`, 'm'))
      }
      expect(stdout).toMatch(/^All in place, in the database and for crm: 40 deals\.$/m)
      expect(exitCode).toBe(0)
    },
  )

  it('plays the deals of a file, which end as the guards say', whole, async () => {
    const path = await dealFile(deal(), deal(), deal({ Title: ' ' }), deal({ Members: [] }))
    const { exitCode, stdout } = await runCli(['demo', '--from', path, '--exit'], env)
    expect(stdout).toMatch(/^file: good +2 +Ready +1 +Ready +ok$/m)
    expect(stdout).toMatch(/^file: TITLE_BLANK +1 +Failed TITLE_BLANK +3 +Failed +ok$/m)
    expect(stdout).toMatch(/^file: NO_MEMBERS +1 +Failed NO_MEMBERS +3 +Failed +ok$/m)
    expect(exitCode).toBe(0)
  })

  it('starts nothing where the file has a bad line', async () => {
    const path = await dealFile(deal(), '{', deal({ Title: 7 }))
    const { exitCode, stdout, stderr } = await runCli(['demo', '--from', path], env)
    expect(stdout).toBe('')
    expect(stderr).toMatch(
      /2 bad lines.*\n {2}line 2: is not JSON.*\n {2}line 3: Title must be text/,
    )
    expect(exitCode).toBe(2)
  })

  it('stays open with the worker running, until Ctrl-C', whole, async () => {
    const demo = startCli(['demo', '--deals', '3'], env)
    const health = await waitFor(
      'the demo to stay open',
      () => /^Ctrl-C/m.test(demo.stdout()) && /http:\S+\/healthz/.exec(demo.stdout())?.[0],
      { timeoutMs },
    )
    expect((await fetch(health)).status).toBe(200)
    const deck = /The Deck shows it going by: (\S+)$/m.exec(demo.stdout())?.[1] ?? ''
    expect(await (await fetch(deck)).text()).toContain('Overview · The Deck')
    demo.child.kill('SIGINT')
    expect(await demo.exited).toBe(0)
    await expect(fetch(health)).rejects.toThrow()
  })

  it('ends in order when it is interrupted in the middle', whole, async () => {
    const demo = startCli(['demo'], env)
    await waitFor('deals to be fed', () => demo.stdout().includes('Fed 200 deals of 25 kinds'), {
      timeoutMs,
    })
    demo.child.kill('SIGTERM')
    expect(await demo.exited).toBe(1)
    expect(demo.stdout()).toMatch(/^Interrupted\.$/m)
    expect(demo.stderr()).toBe('')
  })
})

describeWithKafka('demo with KAFKA_BROKERS', () => {
  it('makes a topic of its own there, and crm reads each event of it', whole, async () => {
    const brokers = (await kafkaBrokers()).join(',')
    const args = ['demo', '--deals', '40', '--exit']
    const { exitCode, stdout } = await runCli(args, { ...env, KAFKA_BROKERS: brokers })
    expect(stdout).toContain(
      `your own (${brokers}), topic demo.pin.messenger.deal-chat-status-changed.v1`,
    )
    expect(stdout).toMatch(/^All in place, in the database and for crm: 40 deals\.$/m)
    expect(exitCode).toBe(0)
  })

  it(
    'leaves nothing behind when it is interrupted while its own broker starts',
    whole,
    async () => {
      const demo = startCli(['demo'], { ...env, PATH: process.env['PATH'] ?? '' })
      const isStarting = (): boolean => demo.stdout().includes('starting a broker')
      await waitFor('a broker to be started', isStarting, { timeoutMs })
      demo.child.kill('SIGINT')
      expect(await demo.exited).toBe(1)
      expect(demo.stdout()).toMatch(/^Interrupted\.$/m)
      expect(demo.stderr()).toBe('')
    },
  )
})
