/** The details of a dead letter that an operator wanted, the same on every storage. */

/** Who and why, and what the run had to say at its end, where there was one. */
export function cancellationDetails(
  cancel: { readonly by: string; readonly reason: string },
  error?: string,
): string {
  const lines = [`cancelled by ${cancel.by}: ${cancel.reason}`, error]
  return lines.filter((line) => line !== undefined).join('\n')
}
