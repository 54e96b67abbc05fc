/** Cursors that no list has given: whoever makes one up is refused, and no storage fails over it. */

import { expect, test } from 'vitest'
import { encodeCursor } from '../../../../src/chokaq/storage/list-cursor.js'
import { describeStorages } from './storages.js'

describeStorages('A made-up cursor', (get) => {
  test.each(['archive', 'dlq'] as const)(
    'of the %s list is refused where no storage knows its time',
    async (place) => {
      const { storage } = get()
      const id = '0'.repeat(26)
      const from = (finishedAt: string) =>
        storage.listJobs({ place, limit: 5, cursor: encodeCursor({ id, finishedAt }) })
      expect(await from('9'.repeat(18))).toMatchObject({ items: [] })
      await expect(from('9'.repeat(19))).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
    },
  )
})
