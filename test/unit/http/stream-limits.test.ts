/** Streams of events: how many one, an address and all readers have. */

import { expect, it } from 'vitest'
import { refuseOneMore, type StreamOwner } from '../../../src/http/api/stream-limits.js'

function owners(length: number, of: (n: number) => Partial<StreamOwner>): StreamOwner[] {
  return Array.from({ length }, (_, n) => ({
    ...{ key: `key ${n}`, role: 'reader', address: `address ${n}`, cookie: undefined },
    ...of(n),
  }))
}

const reader: StreamOwner = { key: 'new', role: 'reader', address: 'new', cookie: undefined }
const admin: StreamOwner = { ...reader, role: 'admin' }

it('one has ten, reader or admin', () => {
  for (const one of [reader, admin]) {
    expect(
      refuseOneMore(
        one,
        owners(9, () => one),
      ),
    ).toBeUndefined()
    expect(
      refuseOneMore(
        one,
        owners(10, () => one),
      ),
    ).toContain('You have 10 streams open')
  }
})

it('readers at one address have twenty', () => {
  const address = 'new'
  expect(
    refuseOneMore(
      reader,
      owners(19, () => ({ address })),
    ),
  ).toBeUndefined()
  expect(
    refuseOneMore(
      reader,
      owners(20, () => ({ address })),
    ),
  ).toContain('at your address')
  expect(
    refuseOneMore(
      admin,
      owners(20, () => ({ address })),
    ),
  ).toBeUndefined()
  expect(
    refuseOneMore(
      reader,
      owners(20, () => ({ address, role: 'admin' })),
    ),
  ).toBeUndefined()
})

it('all readers have forty, and the rest is for admins', () => {
  expect(
    refuseOneMore(
      reader,
      owners(39, () => ({})),
    ),
  ).toBeUndefined()
  expect(
    refuseOneMore(
      reader,
      owners(40, () => ({})),
    ),
  ).toContain('Readers have 40 streams open')
  expect(
    refuseOneMore(
      admin,
      owners(40, () => ({})),
    ),
  ).toBeUndefined()
})
