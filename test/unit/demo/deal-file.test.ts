/** The demo's file of deals: every bad line is named, with what is wrong, and good ones are taken. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseDeals, readDealFile } from '../../../src/demo/deal-file.js'
import { dealsOfFile } from '../../../src/demo/deals-of-file.js'

const dealId = '0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00'

function deal(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const Members = [{ UserId: randomUUID(), Role: 'Owner' }]
  return { DealId: randomUUID(), Title: 'Объект №7', Members, ...changes }
}

function parse(...lines: (string | Record<string, unknown>)[]): ReturnType<typeof parseDeals> {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  return parseDeals(Buffer.from(texts.join('\n')))
}

describe('a line', () => {
  it('may have all fields, Windows line ends, a byte order mark, and blank lines around it', () => {
    const full = deal({ ProjectId: randomUUID(), DeveloperCompanyId: randomUUID() })
    const { deals, faults } = parse(`\ufeff${JSON.stringify(full)}\r`, '', ' \r', deal(), '')
    expect(faults).toEqual([])
    expect(deals).toHaveLength(2)
    expect(deals[0]).toEqual(full)
  })

  it('may leave out what is optional, or say null', () => {
    expect(parse(deal({ ProjectId: null, DeveloperCompanyId: null })).faults).toEqual([])
  })

  it.each([
    ['{"DealId":', /^line 1: is not JSON: /],
    ['[]', 'line 1: must be a JSON object'],
    ['null', 'line 1: must be a JSON object'],
    [deal({ DealId: 'seven' }), 'line 1: DealId must be a uuid'],
    [deal({ DealId: undefined }), 'line 1: DealId is missing'],
    [deal({ DealId: 7 }), 'line 1: DealId must be a uuid'],
    [deal({ Title: undefined }), 'line 1: Title is missing'],
    [deal({ Title: 'x'.repeat(257) }), 'line 1: Title has more than 256 characters'],
    [deal({ Title: 'a\u0000b' }), "line 1: Title holds a character that a database can't keep"],
    [deal({ Title: '\ud800' }), "line 1: Title holds a character that a database can't keep"],
    [deal({ ProjectId: 'x' }), 'line 1: ProjectId must be a uuid'],
    [deal({ Members: 'all' }), 'line 1: Members must be a list'],
    [deal({ Members: ['me'] }), 'line 1: Members.0 must be an object with UserId and Role'],
    [deal({ Members: [{ UserId: dealId }] }), 'line 1: Members.0.Role is missing'],
    [
      deal({ Members: ['Owner', 'Member'].map((Role) => ({ UserId: dealId, Role })) }),
      'line 1: Members names a user twice',
    ],
    [deal({ ProjectID: dealId }), 'line 1: has unknown fields: ProjectID'],
    [deal({ DealId: 'x', Title: 1 }), 'line 1: DealId must be a uuid; Title must be text'],
  ])('%j is refused', (line, fault) => {
    const { deals, faults } = parse(line)
    expect(deals).toEqual([])
    expect(faults).toEqual([
      typeof fault === 'string' ? fault : (expect.stringMatching(fault) as string),
    ])
  })

  it('with a thousand mistakes tells some and how many more', () => {
    const Members = Array.from({ length: 1000 }, (_, n) => ({ UserId: `x${n}`, Role: 'Member' }))
    const [fault] = parse(deal({ Members })).faults
    expect(fault).toMatch(/^line 1: Members\.0\.UserId must be a uuid; .+; and 997 more$/)
  })

  it('that is not UTF-8 is refused, by its own number', () => {
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(deal())}\n`),
      Buffer.from([0xff, 0xfe]),
    ])
    expect(parseDeals(bytes).faults).toEqual(['line 2: is not UTF-8'])
  })

  it('with the deal of an earlier one is refused, whatever the case of its letters', () => {
    const first = deal({ DealId: dealId })
    const { deals, faults } = parse(first, '', deal(), deal({ DealId: dealId.toUpperCase() }))
    expect(deals).toHaveLength(2)
    expect(faults).toEqual([`line 4: DealId ${dealId} is on line 1 already`])
  })
})

describe('a file', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-file-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function file(text: string): Promise<string> {
    const path = join(folder, `${randomUUID()}.jsonl`)
    await writeFile(path, text)
    return path
  }

  it('with bad lines is refused as a whole, all of them named', async () => {
    const path = await file(
      `${JSON.stringify(deal())}\n{\n\n${JSON.stringify(deal({ Title: 1 }))}\n`,
    )
    await expect(readDealFile(path)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      exitCode: 2,
      message: expect.stringMatching(
        /has 2 bad lines, so nothing was started:\n {2}line 2: is not JSON.*\n {2}line 4: Title must be text$/,
      ) as string,
    })
  })

  it('without a deal, and one that is not there, say what is wrong', async () => {
    await expect(readDealFile(await file('\n'))).rejects.toThrow('holds 0 deals')
    await expect(readDealFile(join(folder, 'none'))).rejects.toThrow('there is no such file')
    await expect(readDealFile(folder)).rejects.toThrow('it is a folder')
  })

  it('gives deals that end as the guards say', async () => {
    const members = [
      { UserId: randomUUID(), Role: 'Owner' },
      { UserId: randomUUID(), Role: 'Member' },
    ]
    const king = [{ UserId: randomUUID(), Role: 'King' }]
    const lines = [deal({ Members: members }), deal({ Title: ' ' }), deal({ Members: king })]
    const path = await file(lines.map((line) => JSON.stringify(line)).join('\n'))
    const deals = dealsOfFile(await readDealFile(path))
    const expected = new Map(deals.map((each) => [each.dealId, each.expected]))
    expect(expected.get(lines[0]?.['DealId'] as string)).toMatchObject({
      status: 'Ready',
      attempts: 1,
      events: ['Ready'],
      roles: ['Member', 'Owner'],
    })
    expect(expected.get(lines[1]?.['DealId'] as string)).toMatchObject({
      status: 'Failed',
      attempts: 3,
      lastError: 'guard:TITLE_BLANK',
      events: ['Failed'],
    })
    expect(expected.get(lines[2]?.['DealId'] as string)).toMatchObject({
      lastError: 'guard:ROLE_UNKNOWN',
    })
  })
})
