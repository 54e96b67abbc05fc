/** Who holds the run lock and the relay's? Looked at only: to take one would make a cycle be skipped. */

import type { Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { findLockHolder, lockKeys } from '../../postgres/session-lock.js'
import { failed, worstOf, type Verdict } from '../finding.js'

/** All that this service opens is named so. */
const ownName = /^chat-provision-retry\b/

export async function checkLocks(trx: Transaction<Database>): Promise<Verdict> {
  const troubles: Verdict[] = []
  const seen: string[] = []
  for (const lock of Object.values(lockKeys)) {
    const holder = await findLockHolder(trx, lock)
    if (holder === undefined) seen.push(`${lock.name}: free`)
    else if (ownName.test(holder)) seen.push(`${lock.name}: ${holder}`)
    else
      troubles.push(
        failed(
          `the ${lock.name} lock is held by a foreign session: ${holder}`,
          'ask its owner to let it go; meanwhile every cycle is skipped and nothing is relayed',
        ),
      )
  }
  return worstOf(troubles, seen.join('; '))
}
