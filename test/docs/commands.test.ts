/**
 * Each command that a document, a help text or an error names is one that the command line takes, with
 * these options.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommanderError, type Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/commands/command-line.js'
import {
  commandLines,
  projectRoot,
  proseOf,
  readMarkdown,
  shellWords,
} from '../support/documents.js'

const program = 'chat-provision-retry'

/** What stands in the documents for what one has at hand. */
const placeholders: Readonly<Record<string, string>> = {
  DEAL_ID: '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00',
  EVENT_ID: '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c01',
  JOB_ID: '01J0000000000000000000000A',
  'CLASS:CODE': 'data:22001',
  QUEUE: 'default',
  N: '3',
  NAME: 'ann',
  TEXT: 'title mended',
}

/** The command line without what it does: it only parses, and tells which command it came to. */
function parserOnly(onParsed: (command: Command) => void = () => undefined): Command {
  const root = createProgram(
    {},
    () => Promise.resolve(),
    () => undefined,
  )
  for (const command of withDescendants(root)) {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    if (command.commands.length === 0) command.action(() => onParsed(command))
  }
  return root
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)]
}

async function faultOf(line: string): Promise<string | undefined> {
  const words = shellWords(line).slice(1)
  try {
    const args = words.map((word) => placeholders[word] ?? word)
    let fault: string | undefined
    await parserOnly((command) => (fault = neededBy(command))).parseAsync(args, { from: 'user' })
    return fault
  } catch (error) {
    if (error instanceof CommanderError) return error.message
    throw error
  }
}

/** What the commands themselves ask for after parsing: by whom and why, where something is changed. */
function neededBy(command: Command): string | undefined {
  const given: Record<string, unknown> = command.opts()
  const mends = command.options.find(({ long }) => long === '--mend')
  if (mends !== undefined && given['mend'] !== true) return undefined
  const lacking = command.options
    .filter(
      ({ description }) =>
        description.endsWith('(needed)') ||
        (description.endsWith('(needed unless --dry-run)') && given['dryRun'] !== true),
    )
    .filter((option) => given[option.attributeName()] === undefined)
  return lacking.length === 0 ? undefined : `needed: ${lacking.map(({ long }) => long).join(', ')}`
}

async function inDocuments(): Promise<{ where: string; line: string }[]> {
  const files = await readMarkdown()
  return files
    .filter(({ path }) => path !== 'docs/reference.md')
    .flatMap(({ path, text }) =>
      [...commandLines(text, program), ...inSpans(text)].map((line) => ({ where: path, line })),
    )
}

/**
 * Code spans without the program's name, such as `queues resume QUEUE --by NAME --reason TEXT`. With an
 * option, or a word in capitals that stands for something, it is to be typed so; without it is a name.
 */
function inSpans(text: string): string[] {
  const groups = parserOnly().commands.map((command) => command.name())
  const begins = new RegExp(`^(?:${groups.join('|')}) `)
  return [...proseOf(text).matchAll(/`([^`\n]+)`/g)]
    .map(([, span = '']) => span)
    .filter((span) => begins.test(span) && / (?:--[a-z]|[A-Z_:]+(?: |$))/.test(span))
    .map((span) => `${program} ${span}`)
}

/** The examples below the options. */
function inHelp(): { where: string; line: string }[] {
  return withDescendants(parserOnly()).flatMap((command) => {
    let text = ''
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
    return [...text.matchAll(/^ {2}(chat-provision-retry .+)$/gm)].map(([, line = '']) => ({
      where: `${command.name()} --help`,
      line,
    }))
  })
}

/** What error texts tell to do: from the program's name to the end of the text or of a sentence. */
async function inSource(): Promise<{ where: string; line: string }[]> {
  const groups = parserOnly().commands.map((command) => command.name())
  const told = new RegExp(`${program} (?:${groups.join('|')})\\b[^'"\`;,.()]*`, 'g')
  const names = await readdir(join(projectRoot, 'src'), { recursive: true })
  const found = names
    .filter((name) => name.endsWith('.ts'))
    .map(async (name) => {
      const text = await readFile(join(projectRoot, 'src', name), 'utf8')
      // The names under which sessions show in PostgreSQL begin likewise.
      return (
        [...text.matchAll(told)]
          .map(([line]) => ({ where: name, line }))
          .filter(({ line }) => !/ (doctor|relay)$/.test(line))
          // What follows what is filled in isn't seen here.
          .filter(({ line }) => !line.includes('${'))
      )
    })
  return (await Promise.all(found)).flat()
}

const [documented, exemplified, told] = [await inDocuments(), inHelp(), await inSource()]

describe('the commands named', () => {
  it.each([...documented, ...exemplified, ...told])('in $where: $line', async ({ line }) => {
    expect(await faultOf(line)).toBeUndefined()
  })

  it('are looked for, and a wrong one is found', async () => {
    expect(documented.length).toBeGreaterThan(40)
    expect(exemplified.length).toBeGreaterThan(5)
    expect(told.length).toBeGreaterThan(3)
    const spans = 'see `queues list`, or `queues resume NAME`; `jobs list --state Failed`'
    expect(inSpans(spans)).toEqual([
      `${program} queues resume NAME`,
      `${program} jobs list --state Failed`,
    ])
    expect(await faultOf(`${program} queues resume NAME`)).toBe('needed: --by, --reason')
    expect(await faultOf(`${program} provisions mend`)).toMatch(/unknown command/)
    expect(await faultOf(`${program} provisions list --all`)).toMatch(/unknown option/)
    expect(await faultOf(`${program} provisions show`)).toMatch(/missing required/)
    expect(await faultOf(`${program} provisions list --limit 0`)).toMatch(/whole number/)
  })
})
