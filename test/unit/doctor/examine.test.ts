/** Whatever becomes of a check, it comes to a finding within its limit. */

import { expect, it } from 'vitest'
import { examine } from '../../../src/doctor/examine.js'
import { failed, ok, warning, worstOf } from '../../../src/doctor/finding.js'
import { AppError } from '../../../src/errors.js'

const throwing = (error: unknown) =>
  examine('it', () => {
    throw error
  })

it('a check that never ends is given up at its limit, and told so', async () => {
  let asked: AbortSignal | undefined
  const finding = await examine(
    'it',
    (signal) => {
      asked = signal
      return new Promise(() => undefined)
    },
    20,
  )
  expect(finding).toMatchObject({ check: 'it', status: 'failed', found: 'no answer within 0.02 s' })
  expect(asked?.aborted).toBe(true)
})

it('an error for people is taken apart into what is wrong and what to do', async () => {
  const message = 'The tables are not there. Run: chat-provision-retry migrate up'
  expect(await throwing(new AppError('SCHEMA_MISSING', message))).toMatchObject({
    status: 'failed',
    found: 'The tables are not there',
    mend: 'Run: chat-provision-retry migrate up',
  })
  const away = "PostgreSQL at db.pin.ru:5432/pin can't be used (ECONNREFUSED): check that it runs."
  expect(await throwing(new AppError('DATABASE_UNAVAILABLE', away))).toMatchObject({
    found: "PostgreSQL at db.pin.ru:5432/pin can't be used (ECONNREFUSED)",
    mend: 'check that it runs.',
  })
})

it.each([
  ['42P01', 'skipped', 'see schema'],
  ['42501', 'skipped', 'see grants'],
  ['55P03', 'failed', '55P03'],
])('a check that meets %s is %s', async (code, status, found) => {
  const finding = await throwing(Object.assign(new Error('no'), { code }))
  expect(finding.status).toBe(status)
  expect(finding.found).toContain(found)
})

it('the worst of several troubles decides, and none is left out', () => {
  expect(worstOf([], 'fine')).toEqual(ok('fine'))
  expect(worstOf([warning('a', 'x'), failed('b', 'y'), failed('c', 'y')], 'fine')).toEqual(
    failed('a; b; c', 'x; y'),
  )
})
