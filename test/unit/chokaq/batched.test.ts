/** Many calls become few: what joins a batch, how it is answered, and what a failure does. */

import { describe, expect, it } from 'vitest'
import { batched } from '../../../src/chokaq/worker/batched.js'
import { waitFor } from '../../support/wait-for.js'
import { gate } from './core-world.js'

describe('batched calls', () => {
  it('made in one turn are one call, answered each by its own', async () => {
    const calls: (readonly number[])[] = []
    const double = batched((items: readonly number[]) => {
      calls.push(items)
      return Promise.resolve(items.map((item) => 2 * item))
    }, 100)
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
    expect(calls).toEqual([[1, 2, 3]])
  })

  it('gather while one is under way, and never more than fit go together', async () => {
    const calls: (readonly number[])[] = []
    const { opened, open } = gate()
    const call = batched(async (items: readonly number[]) => {
      calls.push(items)
      if (calls.length === 1) await opened
      return items
    }, 2)
    const first = call(0)
    await waitFor('the first call', () => calls.length === 1)
    const others = [1, 2, 3].map(call)
    open()
    expect(await Promise.all([first, ...others])).toEqual([0, 1, 2, 3])
    expect(calls).toEqual([[0], [1, 2], [3]])
  })

  it('fail together, and the next ones are called again', async () => {
    let calls = 0
    const call = batched((items: readonly number[]) => {
      calls += 1
      return calls === 1 ? Promise.reject(new Error('connection lost')) : Promise.resolve(items)
    }, 100)
    const answers = await Promise.allSettled([1, 2].map(call))
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await call(3)).toBe(3)
  })

  it('refuse an answer that does not fit the question', async () => {
    const call = batched(() => Promise.resolve(['one']), 100)
    const answers = await Promise.allSettled([1, 2].map(call))
    expect(answers).toEqual([
      { status: 'rejected', reason: new Error('the storage gave 1 answers for 2 jobs') },
      { status: 'rejected', reason: new Error('the storage gave 1 answers for 2 jobs') },
    ])
  })
})
