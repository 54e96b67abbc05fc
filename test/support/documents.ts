/** The documents as data: their files, links, headings, code blocks and the commands that they name. */

import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

export interface MarkdownFile {
  /** From the project's root. */
  readonly path: string
  readonly text: string
}

export interface CodeBlock {
  readonly language: string
  readonly lines: readonly string[]
  /** The heading of level 2 that it stands under; '' before the first. */
  readonly section: string
}

const notOurs = new Set(['node_modules', 'dist', 'coverage'])

/** All Markdown files below a folder, hidden ones aside. */
export async function readMarkdown(folder = ''): Promise<MarkdownFile[]> {
  const entries = await readdir(join(projectRoot, folder), { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.name.startsWith('.') || notOurs.has(entry.name)) return []
      if (entry.isDirectory()) return readMarkdown(path)
      return entry.name.endsWith('.md') ? [await readMarkdownFile(path)] : []
    }),
  )
  return found.flat()
}

export async function readMarkdownFile(path: string): Promise<MarkdownFile> {
  const text = await readFile(join(projectRoot, path), 'utf8')
  return { path, text }
}

export function codeBlocks(text: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let section = ''
  let open: { language: string; lines: string[]; section: string } | undefined
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)/.exec(line)
    if (fence !== null && open === undefined) {
      open = { language: fence[1] ?? '', lines: [], section }
    } else if (fence !== null && open !== undefined) {
      blocks.push(open)
      open = undefined
    } else if (open !== undefined) open.lines.push(line)
    else section = /^## (.+)$/.exec(line)?.[1] ?? section
  }
  return blocks
}

/** Without its code blocks: what is a link or a heading there is an example. */
export function proseOf(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}

/** The fragments that a browser finds, as GitHub and others make them of headings. */
export function headingFragments(text: string): string[] {
  return [...proseOf(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Lines of shell blocks without comments, and code spans; where one begins so, it is a command. */
export function commandLines(text: string, program: string): string[] {
  const inBlocks = codeBlocks(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ lines }) => lines.map((line) => line.replace(/\s+#.*$/, '')))
  const inSpans = [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
  const begins = new RegExp(`^${program} [a-z]`)
  return [...inBlocks, ...inSpans].filter((line) => begins.test(line))
}

/** A shell's words of one simple command, up to a pipe or the like. */
export function shellWords(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? []
  const end = words.findIndex((word) => /^(\||&&|;|>)/.test(word))
  return words
    .slice(0, end === -1 ? undefined : end)
    .map((word) => word.replace(/^(['"])(.*)\1$/, '$2'))
}
