/**
 * On-call's terminal: runs the lines of a runbook as they stand there, in a shell that finds
 * `chat-provision-retry` and `curl`, after what stands for something (DEAL_ID) was filled in.
 */

import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../../src/demo/servers/server-cache.js'
import { codeBlocks, projectRoot, readMarkdownFile } from './documents.js'

export interface Runbook {
  readonly text: string
  /** The shell lines below a heading of level 2. */
  commands(section: string): string[]
  /** The SQL blocks below a heading of level 2. */
  statements(section: string): string[]
  /** The first SQL block after a word in bold. */
  statementFor(word: string): string
}

export async function openRunbook(path: string): Promise<Runbook> {
  const { text } = await readMarkdownFile(path)
  const blocks = codeBlocks(text)
  const inSection = (section: string, language: string): readonly (readonly string[])[] =>
    blocks
      .filter((block) => block.section === section && block.language === language)
      .map(({ lines }) => lines)
  return {
    text,
    commands: (section) => inSection(section, 'sh').flat(),
    statements: (section) => inSection(section, 'sql').map((lines) => lines.join('\n')),
    statementFor: (word) => {
      const from = text.indexOf(`**${word}.**`)
      const [block] = from === -1 ? [] : codeBlocks(text.slice(from))
      if (block?.language !== 'sql') throw new Error(`no statement for ${word} in ${path}`)
      return block.lines.join('\n')
    },
  }
}

/** What the runbooks leave to be filled in. */
export type Filling = Partial<
  Record<
    'DEAL_ID' | 'USER_ID' | 'EVENT_ID' | 'MESSAGE_ID' | 'JOB_ID' | 'NAME' | 'TEXT' | 'CLASS:CODE',
    string
  >
>

export function fillIn(text: string, filling: Filling): string {
  return Object.entries(filling).reduce(
    (filled, [name, value]) => filled.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), value),
    text,
  )
}

export interface RunbookShell {
  /** What the line printed, on both streams; rejects with it where the line failed. */
  run(line: string | undefined): Promise<string>
  /** The same of a line that is to fail. */
  runInVain(line: string | undefined): Promise<string>
  remove(): Promise<void>
}

/** @param address of the service, in the place of the runbooks' localhost:8080 */
export async function openRunbookShell(
  environment: Readonly<Record<string, string>>,
  address: string,
): Promise<RunbookShell> {
  const folder = await makeTemporaryFolder('chat-provision-retry-shell-')
  const program = async (name: string, line: string): Promise<void> => {
    await writeFile(join(folder, name), `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 })
  }
  await program('chat-provision-retry', `'${process.execPath}' '${projectRoot}dist/cli.js' "$@"`)
  // Not every machine has curl; of it the runbooks need no more than this.
  await program(
    'curl',
    `'${process.execPath}' -e 'fetch(process.argv.at(-1)).then(async (a) => process.stdout.write(await a.text()))' -- "$@"`,
  )
  const env = { ...environment, PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  const execute = (line = 'false'): Promise<{ failed: boolean; output: string }> =>
    new Promise((resolve) => {
      const literal = line.replaceAll('localhost:8080', address)
      execFile('/bin/sh', ['-c', literal], { env }, (error, stdout, stderr) =>
        resolve({ failed: error !== null, output: stdout + stderr }),
      )
    })
  const expecting = (failure: boolean) => async (line: string | undefined) => {
    const { failed, output } = await execute(line)
    if (failed !== failure) throw new Error(`${line ?? 'no line'}\n${output}`)
    return output
  }
  return {
    run: expecting(false),
    runInVain: expecting(true),
    remove: () => rm(folder, { recursive: true }),
  }
}
