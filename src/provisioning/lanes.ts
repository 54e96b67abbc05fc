/** Runs the same work in several lanes at once. */

/**
 * Resolves when every lane has ended. A lane that throws ends the others at their next item
 * (`mayGoOn` of the caller's own aside) and its error is thrown once all have stopped, so that
 * nothing is still under way when the caller goes on.
 *
 * @param takeNext does one item; false when there is nothing left for this lane
 */
export async function inLanes(lanes: number, takeNext: () => Promise<boolean>): Promise<void> {
  let broken = false
  const lane = async (): Promise<void> => {
    try {
      while (!broken && (await takeNext()));
    } catch (error) {
      broken = true
      throw error
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane))
  const failure = ends.find((end) => end.status === 'rejected')
  if (failure !== undefined) throw failure.reason
}
