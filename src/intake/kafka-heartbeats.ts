/** Keeps the membership in the group alive while one message takes its time. */

export interface Worked {
  readonly done: boolean
  /** Why the membership was lost meanwhile, for kafkajs to judge; undefined while it holds. */
  readonly lost: Error | undefined
}

/**
 * kafkajs beats between messages only, and one that waits out an outage of the database may take
 * hours. The work's signal aborts when the session is over, or the membership is lost and with it
 * the partition: another member is given the message then.
 */
export async function withHeartbeats(
  work: (stopping: AbortSignal) => Promise<boolean>,
  heartbeat: () => Promise<void>,
  intervalMs: number,
  over: AbortSignal,
): Promise<Worked> {
  const stop = new AbortController()
  const onOver = (): void => stop.abort()
  over.addEventListener('abort', onOver, { once: true })
  if (over.aborted) stop.abort()
  let lost: Error | undefined
  let beating: Promise<void> = Promise.resolve()
  const beat = async (): Promise<void> => {
    try {
      await heartbeat()
    } catch (error) {
      lost ??= error instanceof Error ? error : new Error(String(error))
      stop.abort()
    }
  }
  const timer = setInterval(() => {
    beating = beat()
  }, intervalMs)
  try {
    const done = await work(stop.signal)
    clearInterval(timer)
    await beating
    return { done, lost }
  } finally {
    clearInterval(timer)
    over.removeEventListener('abort', onOver)
  }
}
