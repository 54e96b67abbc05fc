/** Rounds in which each contestant takes its turn, so that all meet the machine in the same moods. */

/**
 * @param contestants by name
 * @param rounds counted ones; before them goes one that fills caches and warms the compiler up
 * @param once gives the figure of one contestant's turn
 * @returns the figures by name, one of each round
 */
export async function interleave(contestants, { rounds, warmUps = 1 }, once) {
  const names = Object.keys(contestants)
  const figures = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -warmUps; round < rounds; round += 1) {
    // Each goes first in its turn, so that none profits from the place.
    const first = (round + warmUps) % names.length
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const figure = await once(contestants[name], name)
      if (round >= 0) figures[name].push(figure)
    }
  }
  return figures
}
