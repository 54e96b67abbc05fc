/**
 * The states of a job and the only ways between them. Every storage makes exactly these moves: what
 * isn't in the table can't be written down in types. The database refuses other moves of live jobs and
 * rows in a shape that their state can't have; a way from table to table is kept by the moves alone.
 */

/** The number of each state as it is stored. */
export const stateCodes = {
  /** Waits in its queue, now or until its schedule. */
  Pending: 0,
  /** In a worker's memory, waits for a free slot; the handler has not begun. */
  Fetched: 1,
  /** The handler runs, or is about to, and its heartbeat is kept up. */
  Processing: 2,
  Succeeded: 3,
  /** Failed for good: a dead letter. */
  Failed: 4,
  Cancelled: 5,
  /** Its worker died while the handler ran; side effects may have happened. */
  Zombie: 6,
} as const

export type JobState = keyof typeof stateCodes

export const jobStates = Object.keys(stateCodes) as readonly JobState[]

/** Live jobs, the only ones a claim ever looks at. */
export type HotState = 'Pending' | 'Fetched' | 'Processing'
/** Jobs that an operator can look into and bring back. */
export type DeadState = 'Failed' | 'Cancelled' | 'Zombie'

/** The table a job is in. */
export type Place = 'hot' | 'archive' | 'dlq'

/** Every move by its name: which states it may leave, and the state it leads to. */
export const moves = {
  fetch: { from: ['Pending'], to: 'Fetched' },
  /** A fetch and a start in one. */
  claim: { from: ['Pending'], to: 'Processing' },
  /** Its handler has not begun: back into the queue, no attempt spent. */
  giveBack: { from: ['Fetched', 'Processing'], to: 'Pending' },
  /** Burns an attempt. */
  start: { from: ['Fetched'], to: 'Processing' },
  succeed: { from: ['Processing'], to: 'Succeeded' },
  retry: { from: ['Processing'], to: 'Pending' },
  /** From Fetched where the job can't even begin: its type is unknown, or it has grown too old. */
  fail: { from: ['Fetched', 'Processing'], to: 'Failed' },
  cancel: { from: ['Pending', 'Fetched', 'Processing'], to: 'Cancelled' },
  bury: { from: ['Processing'], to: 'Zombie' },
  resurrect: { from: ['Failed', 'Cancelled', 'Zombie'], to: 'Pending' },
} as const satisfies Record<string, { readonly from: readonly JobState[]; readonly to: JobState }>

export type MoveName = keyof typeof moves

/** The states that a job in `From` can reach in one move; never for Succeeded, where all ends. */
export type NextState<From extends JobState> = {
  [M in MoveName]: From extends (typeof moves)[M]['from'][number] ? (typeof moves)[M]['to'] : never
}[MoveName]

/** Whether some move leads from one state to the other. */
export function isLegalMove(from: JobState, to: JobState): boolean {
  return Object.values(moves).some(
    (move) => move.to === to && (move.from as readonly JobState[]).includes(from),
  )
}

/** Whether this very move may leave that state. */
export function mayLeave(move: MoveName, state: JobState): boolean {
  return (moves[move].from as readonly JobState[]).includes(state)
}

/** @throws RangeError for a number that is no state's: the table was written by something newer. */
export function stateOfCode(code: number): JobState {
  const state = jobStates.find((name) => stateCodes[name] === code)
  if (state === undefined) throw new RangeError(`${code} is not the number of a job state`)
  return state
}

export function placeOf(state: JobState): Place {
  if (stateCodes[state] <= stateCodes.Processing) return 'hot'
  return state === 'Succeeded' ? 'archive' : 'dlq'
}
