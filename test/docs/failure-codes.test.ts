/** Whatever `last error` may say, the runbooks have a line on it. */

import { expect, it } from 'vitest'
import type { GuardCode } from '../../src/provisioning/guards.js'
import { workerDied, type RowFailureClass } from '../../src/provisioning/last-error.js'
import { readMarkdownFile } from '../support/documents.js'

/** The compiler asks for each that the code knows. */
const guardCodes: Record<GuardCode, true> = {
  TITLE_BLANK: true,
  NO_MEMBERS: true,
  MEMBERS_TOO_MANY: true,
  ROLE_UNKNOWN: true,
  CHAT_NOT_ACTIVE: true,
  CHAT_KIND_MISMATCH: true,
  TENANT_MISMATCH: true,
}
const classes: Record<RowFailureClass, true> = {
  guard: true,
  constraint: true,
  data: true,
  bug: true,
  contention: true,
  crash: true,
}

/** What stands in code marks in the first column of the page's tables. */
async function firstColumn(path: string): Promise<string[]> {
  const { text } = await readMarkdownFile(path)
  const cells = [...text.matchAll(/^\|([^|]+)\|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

it("the poison runbook mends each guard's code, and a death", async () => {
  const codes = [...Object.keys(guardCodes), workerDied.code]
  expect(await firstColumn('runbooks/chat-provision-poison.md')).toEqual(
    expect.arrayContaining(codes),
  )
})

it('the index explains each class', async () => {
  expect(await firstColumn('runbooks/README.md')).toEqual(
    expect.arrayContaining(Object.keys(classes)),
  )
})
