/**
 * Makes one call to the storage of the many that are made at about the same time: while one batch is
 * under way the next gathers, so batches grow with the load and an idle worker waits for nobody.
 */

interface Entry<I, R> {
  readonly item: I
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * @param run answers in the order of the items
 * @param maxItems of one batch, ≥ 1
 * @returns a function that resolves with the item's own answer, or rejects with its whole batch
 */
export function batched<I, R>(
  run: (items: readonly I[]) => Promise<readonly R[]>,
  maxItems: number,
): (item: I) => Promise<R> {
  let waiting: Entry<I, R>[] = []
  let running = false

  const drain = async (): Promise<void> => {
    running = true
    // Whoever comes in this turn of the event loop joins.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      try {
        const results = await run(batch.map(({ item }) => item))
        if (results.length !== batch.length) {
          throw new Error(`the storage gave ${results.length} answers for ${batch.length} jobs`)
        }
        results.forEach((result, n) => batch[n]?.resolve(result))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!running) void drain()
    })
}
