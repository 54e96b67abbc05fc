/** How large a form may be. */

/** Characters of a job's payload, which may have 256 KiB; a field takes no more. */
export const longestPayload = 256 * 1024

/** In UTF-8 each of them has three bytes at the most, each of which a form sends as `%D0`; and the rest. */
export const formLimitBytes = 9 * longestPayload + 128 * 1024
