/** 0 done, 1 failed, 2 wrong use or configuration. */
export type ExitCode = 0 | 1 | 2

/** Sets how the process is to end once the command has. */
export type SetExitCode = (code: ExitCode) => void
