/** Medians and shares: what a busy machine spoils in one round doesn't move them. */

export function median(values) {
  return percentile(values, 0.5)
}

/** @param share 0 to 1, of the sorted values */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
}

/**
 * Median of the ratios of each round by itself: what else the machine did in a round slowed both.
 *
 * @param figures one of each round, as are those of `base`
 */
export function ratio(figures, base) {
  return median(figures.map((figure, round) => figure / base[round]))
}
