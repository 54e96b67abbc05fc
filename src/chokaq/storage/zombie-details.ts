/** The details of a job whose worker died, the same on every storage. */

export function zombieDetails(owner: string): string {
  return (
    `The worker ${owner} has sent no heartbeat within the zombie timeout. ` +
    'The handler may have done part of its work: look into that before the job is run again.'
  )
}
