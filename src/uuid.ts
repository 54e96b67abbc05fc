/**
 * Ids as UUIDv7 (RFC 9562), rising within a process unless its clock is set back by over ten seconds.
 *
 * The library's own generator asks the system for chance at every second id, which takes as long as
 * the rest of making it; here it asks once in some hundred.
 */

import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

const chance = new Uint32Array(1_024)
let used = chance.length

const generator = new V7Generator({
  nextUint32() {
    if (used === chance.length) {
      randomFillSync(chance)
      used = 0
    }
    const next = chance[used]
    used += 1
    if (next === undefined) throw new RangeError('read past the end of what was drawn')
    return next
  },
})

export function uuidv7(): string {
  return generator.generate().toString()
}
