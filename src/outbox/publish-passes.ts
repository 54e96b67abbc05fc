/** Pass after pass under one turn of the lock, each batch read while the one before it is sent. */

import { readDueBatch, type DueBatch } from './due-batch.js'
import { publishBatch, type PassContext } from './publish-pass.js'
import { createSessionWork } from './session-work.js'

export interface PublishPasses {
  /**
   * Sends what is due, one batch of it, and gives the number of events that were read: 0 when nothing
   * is due. Rejects where the session fails, and is of no use then.
   */
  next(): Promise<number>
  /** Resolves when all is on record and the session is free. */
  settled(): Promise<void>
  /** Events published and marked so far. */
  readonly published: number
}

/**
 * A healthy broker acknowledges in milliseconds. What was read longer ago, before a slow send or by a
 * process that has been frozen since, is read again: an operator may have skipped some of it.
 */
const freshForMs = 1_000

export function createPublishPasses(context: PassContext): PublishPasses {
  const { transport, now } = context
  const work = createSessionWork()
  let published = 0
  let ahead: DueBatch | undefined

  /** Nothing of a batch is used that was read before something stayed behind: order is per deal. */
  const takeAhead = (): DueBatch | undefined => {
    const batch = ahead
    ahead = undefined
    return batch !== undefined && now() - batch.readAt < freshForMs ? batch : undefined
  }
  const readNow = async (): Promise<DueBatch> => {
    await work.done()
    return readDueBatch(context, transport.closedTopics())
  }
  const readAhead = (batch: DueBatch): void =>
    work.begin(async () => {
      const underWay = batch.events.map(({ row }) => row.id)
      const next = await readDueBatch(context, transport.closedTopics(), underWay)
      if (next.events.length > 0) ahead = next
    })

  return {
    async next() {
      const batch = takeAhead() ?? (await readNow())
      if (batch.full) readAhead(batch)
      const { clean } = await publishBatch(batch, context, work, (events) => (published += events))
      if (!batch.full || !clean) await work.done()
      if (!clean) ahead = undefined
      return batch.events.length
    },
    settled: () => work.done(),
    get published() {
      return published
    },
  }
}
