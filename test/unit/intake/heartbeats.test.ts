/** A membership is kept alive by beats for as long as a message takes, and its loss ends the wait. */

import { describe, expect, it } from 'vitest'
import { withHeartbeats } from '../../../src/intake/kafka-heartbeats.js'

const never = new AbortController().signal

/** Work that ends when its signal aborts or `end` is called, and says which. */
function openWork(): { work: (stopping: AbortSignal) => Promise<boolean>; end: () => void } {
  let end!: () => void
  const ended = new Promise<boolean>((resolve) => {
    end = () => resolve(true)
  })
  const work = (stopping: AbortSignal): Promise<boolean> =>
    Promise.race([
      ended,
      new Promise<boolean>((resolve) => {
        if (stopping.aborted) resolve(false)
        stopping.addEventListener('abort', () => resolve(false))
      }),
    ])
  return { work, end }
}

describe('heartbeats', () => {
  it('beat while the work lasts, and end with it', async () => {
    const { work, end } = openWork()
    let beats = 0
    const beat = (): Promise<void> => {
      beats += 1
      if (beats === 5) end()
      return Promise.resolve()
    }
    expect(await withHeartbeats(work, beat, 1, never)).toEqual({ done: true, lost: undefined })
    const beatsAtTheEnd = beats
    await withHeartbeats(openWork().work, () => Promise.reject(new Error('lost')), 1, never)
    expect(beats).toBe(beatsAtTheEnd)
  })

  it('that are refused end the work, and hand the reason on', async () => {
    const lost = new Error('the group is rebalancing')
    const beat = (): Promise<void> => Promise.reject(lost)
    expect(await withHeartbeats(openWork().work, beat, 1, never)).toEqual({ done: false, lost })
  })

  it('do not outlive a session that is over', async () => {
    const over = new AbortController()
    const beat = (): Promise<void> => {
      over.abort()
      return Promise.resolve()
    }
    const { work } = openWork()
    expect(await withHeartbeats(work, beat, 1, over.signal)).toEqual({
      done: false,
      lost: undefined,
    })
    expect((await withHeartbeats(work, beat, 1, over.signal)).done).toBe(false)
  })
})
