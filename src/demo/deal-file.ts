/**
 * Deals from a file, one JSON object per line as the deal-created message has it. The whole file is
 * checked before anything starts: every bad line is named, and nothing is done by halves.
 */

import { readFile } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { z } from 'zod'
import { AppError } from '../errors.js'

/** As many as --deals allows. */
const dealsAtMost = 10_000
/** A line with a thousand wrong members has one mistake, made a thousand times. */
const faultsShownPerLine = 3

/**
 * @throws AppError INPUT_INVALID where the file can't be read, holds no deal, or has bad lines, each
 * named by its number with what is wrong
 */
export async function readDealFile(path: string): Promise<DealInFile[]> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new AppError('INPUT_INVALID', `The file ${path} can't be read: ${reason(cause)}`, {
      cause,
    })
  })
  const { deals, faults } = parseDeals(bytes)
  if (faults.length > 0) {
    const count = faults.length === 1 ? '1 bad line' : `${faults.length} bad lines`
    throw new AppError(
      'INPUT_INVALID',
      [`${path} has ${count}, so nothing was started:`, ...faults].join('\n  '),
    )
  }
  if (deals.length === 0 || deals.length > dealsAtMost) {
    throw new AppError(
      'INPUT_INVALID',
      `${path} holds ${deals.length} deals; it must be from 1 to ${dealsAtMost}, one JSON object ` +
        'per line: {"DealId","Title","ProjectId"?,"DeveloperCompanyId"?,"Members":[{"UserId","Role"}]}',
    )
  }
  return deals
}

function text(most: number): z.ZodString {
  return z
    .string(says('must be text'))
    .refine((value) => Array.from(value).length <= most, `has more than ${most} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\u0000'),
      "holds a character that a database can't keep",
    )
}

const uuid = z
  .string(says('must be a uuid'))
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be a uuid')
  .toLowerCase()

const member = z.strictObject(
  { UserId: uuid, Role: text(32) },
  says('must be an object with UserId and Role'),
)

const dealInFile = z.strictObject(
  {
    DealId: uuid,
    Title: text(256),
    ProjectId: uuid.nullish(),
    DeveloperCompanyId: uuid.nullish(),
    Members: z
      .array(member, says('must be a list'))
      .refine(
        (members) => new Set(members.map(({ UserId }) => UserId)).size === members.length,
        'names a user twice',
      ),
  },
  says('must be a JSON object'),
)

export type DealInFile = z.infer<typeof dealInFile>

/** Blank lines are allowed; `faults` has a text for each bad line. */
export function parseDeals(bytes: Uint8Array): { deals: DealInFile[]; faults: string[] } {
  const deals: DealInFile[] = []
  const faults: string[] = []
  const lineOf = new Map<string, number>()
  for (const [index, line] of splitLines(bytes).entries()) {
    const number = index + 1
    const found = parseLine(line)
    if (found === undefined) continue
    const earlier = 'deal' in found ? lineOf.get(found.deal.DealId) : undefined
    if ('fault' in found) faults.push(`line ${number}: ${found.fault}`)
    else if (earlier !== undefined) {
      faults.push(`line ${number}: DealId ${found.deal.DealId} is on line ${earlier} already`)
    } else {
      lineOf.set(found.deal.DealId, number)
      deals.push(found.deal)
    }
  }
  return { deals, faults }
}

function parseLine(line: Uint8Array): { deal: DealInFile } | { fault: string } | undefined {
  let value: unknown
  try {
    // Drops a byte order mark, which an editor may have left on the first line.
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(line).trim()
    if (decoded === '') return undefined
    value = JSON.parse(decoded)
  } catch (error) {
    return {
      fault: error instanceof SyntaxError ? `is not JSON: ${error.message}` : 'is not UTF-8',
    }
  }
  const parsed = dealInFile.safeParse(value)
  if (parsed.success) return { deal: parsed.data }
  const told = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`.trim())
  const more = told.length - faultsShownPerLine
  return {
    fault: told.slice(0, faultsShownPerLine).join('; ') + (more > 0 ? `; and ${more} more` : ''),
  }
}

function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  const newline = 0x0a
  let from = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
    lines.push(bytes.subarray(from, at))
    from = at + 1
  }
  return [...lines, bytes.subarray(from)]
}

/** What zod says of the value itself; a field that is not there is missing, whatever it should be. */
function says(otherwise: string): {
  error: (issue: { code?: string | undefined; input?: unknown; keys?: unknown }) => string
} {
  return {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') return `has unknown fields: ${String(issue.keys)}`
      return issue.input === undefined ? 'is missing' : otherwise
    },
  }
}

function reason(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'permission denied'
  return String(message)
}
