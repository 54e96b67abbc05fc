/** A signal that aborts at SIGTERM or SIGINT, for commands that run to an end by themselves. */

/** The second one of the same kind ends the process at once, as the system's default does. */
export function untilSignalled(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => controller.abort(new Error(name)))
  }
  return controller.signal
}
