/** Each command that a document names is one that the command line takes, with these options. */

import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/commands/command-line.js'
import { commandLines, readMarkdown, shellWords } from '../support/documents.js'

/** What stands in the documents for what one has at hand. */
const placeholders: Readonly<Record<string, string>> = {
  DEAL_ID: '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00',
  EVENT_ID: '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c01',
  JOB_ID: '01J0000000000000000000000A',
  'CLASS:CODE': 'data:22001',
  NAME: 'ann',
  TEXT: 'title mended',
}

/** Parses as the program does, without doing anything; gives the path of the command that was meant. */
async function parse(words: readonly string[]): Promise<string> {
  const program = createProgram(
    {},
    () => Promise.resolve(),
    () => undefined,
  )
  let meant = ''
  const silence = (command: Command, path: string): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    if (command.commands.length === 0) command.action(() => void (meant = path))
    for (const child of command.commands) silence(child, `${path} ${child.name()}`.trim())
  }
  silence(program, '')
  await program.parseAsync([...words], { from: 'user' })
  return meant
}

async function faultOf(line: string): Promise<string | undefined> {
  const words = shellWords(line).slice(1)
  try {
    await parse(words.map((word) => placeholders[word] ?? word))
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return error.message
    throw error
  }
}

const named = (await readMarkdown()).flatMap(({ path, text }) =>
  path === 'docs/reference.md'
    ? []
    : [...new Set(commandLines(text, 'chat-provision-retry'))].map((line) => ({ path, line })),
)

describe('the commands named', () => {
  it.each(named)('in $path: $line', async ({ line }) => {
    expect(await faultOf(line)).toBeUndefined()
  })

  it('are looked for, and a wrong one is found', async () => {
    expect(named.length).toBeGreaterThan(40)
    expect(await faultOf('chat-provision-retry provisions mend')).toMatch(/unknown command/)
    expect(await faultOf('chat-provision-retry provisions list --all')).toMatch(/unknown option/)
    expect(await faultOf('chat-provision-retry provisions show')).toMatch(/missing required/)
    expect(await faultOf('chat-provision-retry provisions list --limit 0')).toMatch(/whole number/)
  })
})
