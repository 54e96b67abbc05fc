/** A signal that aborts at SIGTERM or SIGINT, for commands that run to an end by themselves. */

const names = ['SIGTERM', 'SIGINT'] as const

/** The second one, of either kind, ends the process at once, as the system's default does. */
export function untilSignalled(): AbortSignal {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals): void => {
    for (const each of names) process.off(each, stop)
    controller.abort(new Error(name))
  }
  for (const name of names) process.on(name, stop)
  return controller.signal
}
