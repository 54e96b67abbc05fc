/** What a job may be. The columns and checks of schema `chokaq` hold the same limits. */

export const limits = {
  /** Bytes of UTF-8. A job says what to do; what it works on lives in tables of its own. */
  payloadBytes: 262_144,
  /** Arrays and objects within each other; PostgreSQL's own reader of JSON ends not far above. */
  payloadDepth: 500,
  /** Characters (UTF-16), as all below. */
  typeLength: 128,
  queueLength: 64,
  idempotencyKeyLength: 255,
  tagLength: 64,
  tags: 16,
  /** Of createdBy, by, and a worker's owner id. */
  actorLength: 128,
  /** Of why a job was cancelled. */
  reasonLength: 512,
  /** The failure in full, with stack and causes; more than this nobody reads. */
  detailsLength: 32_768,
  priority: { min: 0, max: 100, default: 10 },
  maxWorkers: { min: 1, max: 10_000 },
  /** Of one fetch. */
  fetchJobs: 10_000,
  /** 10 years in milliseconds: beyond it, a unit was mistaken. */
  delayMs: 315_360_000_000,
} as const
