/**
 * What the job, the intake and the relay say about their work, free of any metrics library:
 * provisioning and the outbox take these as parameters and never see prom-client.
 */

export interface ProvisioningMetrics {
  /** A run failed and the row will be tried again. */
  retried(): void
  /** A row became Ready. */
  succeeded(): void
  /** A row ran out of attempts. */
  poison(): void
  /** A cycle that ran to its end, whatever its rows came to; skipped ones don't count. */
  cycleCompleted(seconds: number): void
}

export interface IntakeMetrics {
  /** A message that couldn't be taken in was set aside; not one that had been already. */
  parked(): void
}

export interface RelayMetrics {
  /** Rows whose delivery was acknowledged and marked. */
  published(n: number): void
  /** Acknowledged rows that the fencing check refused to mark: another publisher took over. */
  staleMarks(n: number): void
  /** Rows set aside after their last attempt. */
  parked(n: number): void
}
