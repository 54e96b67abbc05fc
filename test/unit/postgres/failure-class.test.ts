/** What each failure of a database call means, known or not, however it is wrapped. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyFailure, isServerWide } from '../../../src/postgres/failure-class.js'

const withCode = (code: unknown, fields: object = {}): Error =>
  Object.assign(new Error('of no known text'), { code }, fields)

describe('an SQLSTATE', () => {
  const states: Record<string, string[]> = {
    contention: ['40001', '40P01', '55P03', '57014'],
    infrastructure: [
      ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01'],
      ...['25006', '25P03', '25P04', '26000', '42P05'],
      ...['28000', '28P01'],
      '3D000',
      ...['53000', '53100', '53200', '53300', '53400'],
      ...['57P01', '57P02', '57P03', '57P04', '57P05'],
      ...['58000', '58030', '58P01', '58P02'],
    ],
    constraint: ['23000', '23001', '23502', '23503', '23505', '23514', '23P01'],
    data: ['22000', '22001', '22003', '22007', '22012', '22021', '22P02', '22P05', '22030'],
    bug: [
      ...['0A000', '21000', '24000', '25001', '25P02', '2D000', '3B000', '3F000'],
      ...['40002', '40003', '42501', '42601', '42703', '42P01', '44000', '54000', '54001'],
      ...['55000', '55006', '57000', '72000', 'F0000', 'HV000', 'P0001', 'P0002', 'XX000', 'XX001'],
      ...['00000', 'ZZZZZ', '99999'],
    ],
  }
  const cases = Object.entries(states).flatMap(([of, codes]) => codes.map((code) => [code, of]))
  it.each(cases)('%s is of class %s', (code, of) => {
    expect(classifyFailure(withCode(code))).toEqual({ class: of, code })
  })

  it('of any other kind gives some class, and itself as the code', () => {
    const character = fc.constantFrom(...Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'))
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 5, maxLength: 5 }), (state) => {
        const failure = classifyFailure(withCode(state))
        expect(failure.code).toBe(state)
        expect(Object.keys(states)).toContain(failure.class)
      }),
    )
  })

  it.each(['4000', '400010', ' 40001', '40p01', '40001\n', 'x40001', ''])(
    'is five of 0-9 and A-Z, so %j is none',
    (code) => {
      expect(classifyFailure(withCode(code))).toEqual({ class: 'bug', code: 'Error' })
    },
  )
})

describe('a prepared statement', () => {
  it('that its tables have outlived calls for a new session; what else is not supported does not', () => {
    const stale = Object.assign(new Error('cached plan must not change result type'), {
      code: '0A000',
    })
    expect(classifyFailure(stale)).toEqual({ class: 'infrastructure', code: '0A000' })
    expect(classifyFailure(withCode('0A000'))).toEqual({ class: 'bug', code: '0A000' })
  })
})

describe('the way to the server', () => {
  it.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTCONN', 'EPIPE', 'EPROTO', 'ETIMEDOUT'],
    ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'EADDRNOTAVAIL'],
    ...['ENOTFOUND', 'EAI_AGAIN', 'ERR_STREAM_DESTROYED', 'ERR_SOCKET_CLOSED'],
    'ERR_SOCKET_CONNECTION_TIMEOUT',
  ])('fails with a socket’s %s', (code) => {
    expect(classifyFailure(withCode(code))).toEqual({ class: 'infrastructure', code })
  })

  it.each([
    ['ENOENT', 'connect'],
    ['EACCES', 'connect'],
    ['EPERM', 'connect'],
    ['EMFILE', 'connect'],
    ['EAI_FAIL', 'getaddrinfo'],
  ])('fails with %s of %s: no socket file, a firewall, no descriptors left', (code, syscall) => {
    expect(classifyFailure(withCode(code, { syscall }))).toEqual({ class: 'infrastructure', code })
    expect(classifyFailure(withCode(code, { syscall: 'open' })).class).toBe('bug')
  })

  it.each([
    ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'SELF_SIGNED_CERT_IN_CHAIN'],
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('fails with a certificate’s or handshake’s %s', (code) => {
    expect(classifyFailure(withCode(code))).toEqual({ class: 'infrastructure', code })
  })

  it.each(['ERR_INVALID_ARG_TYPE', 'XCERT_HAS_EXPIRED', 'MY_ERR_SSL_X', 'MY_SELF_SIGNED_CERT'])(
    'has nothing to do with %s',
    (code) => {
      expect(classifyFailure(withCode(code))).toEqual({ class: 'bug', code: 'Error' })
    },
  )
})

describe('an error made from others', () => {
  const refused = withCode('ECONNREFUSED', { syscall: 'connect' })
  const isRefused = { class: 'infrastructure', code: 'ECONNREFUSED' }

  it('one connect for each address of the host: as node gives it, and without a code', () => {
    const each = [refused, withCode('ENETUNREACH')]
    const nodes = Object.assign(new AggregateError(each), { code: 'ECONNREFUSED' })
    expect(classifyFailure(nodes)).toEqual(isRefused)
    expect(classifyFailure(new AggregateError(each))).toEqual(isRefused)
    expect(classifyFailure(new AggregateError([new Error('unknown'), refused]))).toEqual(isRefused)
    expect(classifyFailure(new AggregateError([], 'none', { cause: refused }))).toEqual(isRefused)
  })

  it('is what its cause is, where it says nothing itself', () => {
    const wrapped = new Error('the chat was not created', { cause: withCode('40P01') })
    expect(classifyFailure(wrapped)).toEqual({ class: 'contention', code: '40P01' })
    expect(classifyFailure(new TypeError('twice', { cause: wrapped })).code).toBe('40P01')
  })

  it('is what it says itself, whatever its cause', () => {
    const error = Object.assign(new Error('duplicate', { cause: refused }), { code: '23505' })
    expect(classifyFailure(error)).toEqual({ class: 'constraint', code: '23505' })
  })

  it('gives its own name where nothing in the chain is known', () => {
    expect(classifyFailure(new RangeError('x', { cause: new TypeError('y') }))).toEqual({
      class: 'bug',
      code: 'RangeError',
    })
    expect(classifyFailure(new AggregateError([undefined])).code).toBe('AggregateError')
  })

  it('is followed five causes deep, and not for ever where it is its own', () => {
    const chain = (length: number): Error =>
      length === 0 ? refused : new Error('wrapped', { cause: chain(length - 1) })
    expect(classifyFailure(chain(5))).toEqual(isRefused)
    expect(classifyFailure(chain(6))).toEqual({ class: 'bug', code: 'Error' })
    const own = new Error('round and round')
    own.cause = own
    expect(classifyFailure(own)).toEqual({ class: 'bug', code: 'Error' })
  })
})

describe('anything else', () => {
  it.each([
    ['a bug of ours', new TypeError('x is not a function'), 'TypeError'],
    ['a string', 'Connection terminated', 'string'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'object'],
    ['an object', {}, 'object'],
    ['a number as code', withCode(40001), 'Error'],
    ['null as code', withCode(null), 'Error'],
    ['an empty name', Object.assign(new Error('x'), { name: '' }), 'Error'],
    ['a name that is no text', Object.assign(new Error('x'), { name: Symbol('x') }), 'Error'],
    ['no name', Object.assign(new Error('x'), { name: undefined }), 'Error'],
  ])('%s is a bug, named as well as can be', (_, thrown, code) => {
    expect(classifyFailure(thrown)).toEqual({ class: 'bug', code })
  })

  it('that has a known code counts as that, even where it is no Error', () => {
    expect(classifyFailure({ code: '40001' })).toEqual({ class: 'contention', code: '40001' })
  })

  it('that has a driver’s text counts as that, likewise', () => {
    expect(classifyFailure({ message: 'Connection terminated' }).class).toBe('infrastructure')
    const message = Object.assign(new Error(), { message: Symbol('Connection terminated') })
    expect(classifyFailure(message)).toEqual({ class: 'bug', code: 'Error' })
  })

  it('never makes it throw', () => {
    fc.assert(fc.property(fc.anything(), (thrown) => void classifyFailure(thrown)))
  })
})

describe('a failure that the server shows to every row', () => {
  it.each(['53100', '53200', '58030', '25006'])('is %s', (code) => {
    expect(isServerWide(code)).toBe(true)
  })

  it.each(['23505', '40P01', '57P01', '25P03', '53', '531000', 'x53100', 'WORKER_DIED'])(
    'is not %s',
    (code) => {
      expect(isServerWide(code)).toBe(false)
    },
  )
})
