/** The public face of the retry core: all that its host needs. The README says how it works. */

export { ChokaqError, type ChokaqErrorCode } from './errors.js'
export type { EnqueueOptions, JobQueue } from './enqueue/job-queue.js'
export type { JobRecord } from './jobs/job.js'
export type { BackoffPolicy } from './kernel/backoff.js'
export { failureReasons, type FailureReason } from './kernel/failure.js'
export { jobStates, type JobState } from './kernel/job-state.js'
export {
  archiveMarkers,
  rememberCompletion,
  type CompletionMarkers,
} from './middleware/completion-marker.js'
export type { Middleware } from './middleware/middleware.js'
export { createJobOperator, type JobOperator } from './operator/job-operator.js'
export type { CoreEvent, CoreEvents, CoreLog, CoreMetrics, JobLabels } from './ports.js'
export type { JobDefinition, JobHandler } from './registry/job-definition.js'
export { createJobRegistry, type JobRegistry } from './registry/job-registry.js'
export type { PayloadSchema } from './registry/payload-schema.js'
export { createRetryCore, type RetryCore, type RetryCoreOptions } from './retry-core.js'
export type { JobFilter } from './storage/job-filter.js'
export type { JobStorage } from './storage/job-storage.js'
export { bulkCap, type BulkAction, type BulkPreview } from './storage/operator-port.js'
export type { QueueStatus, Totals } from './storage/reading-port.js'
export type { CallersTransaction } from './storage/postgres/connections.js'
export { createPostgresStorage } from './storage/postgres/postgres-storage.js'
export { createMemoryStorage } from './storage/memory/memory-storage.js'
export { JobAbortedError, type AbortReason } from './worker/abort.js'
export type { JobContext } from './worker/job-context.js'
export { FatalJobError, RetryAfterError } from './worker/job-errors.js'
