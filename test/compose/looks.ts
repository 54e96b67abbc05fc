/** Looks into the stack's tables, and waits for what they are to show. */

import { sql } from 'kysely'
import { waitFor } from '../support/wait-for.js'
import type { Stack } from './stack.js'

/** A container with a Java program starts within a minute even where everything else starts too. */
export const patient = { timeoutMs: 180_000 }

export interface Looks {
  /** Rows of deal_chat_provisions that meet the condition. */
  count(condition: string): Promise<number>
  untilMoreReady(more: number): Promise<void>
  untilPublished(): Promise<void>
}

export function looksInto({ admin }: Stack): Looks {
  const rowsOf = async (table: string, condition: string): Promise<number> => {
    const statement = `select count(*)::int as n from messenger.${table} where ${condition}`
    const { rows } = await sql.raw<{ n: number }>(statement).execute(admin)
    return rows[0]?.n ?? 0
  }
  const count = (condition: string): Promise<number> => rowsOf('deal_chat_provisions', condition)
  return {
    count,
    untilMoreReady: async (more) => {
      const before = await count(`status = 'Ready'`)
      const enough = async (): Promise<boolean> =>
        (await count(`status = 'Ready'`)) >= before + more
      await waitFor(`${more} more Ready deals`, enough, patient)
    },
    untilPublished: async () => {
      const allPublished = async (): Promise<boolean> =>
        (await rowsOf('outbox_events', 'published_at is null')) === 0
      await waitFor('every event to be published', allPublished, patient)
    },
  }
}
