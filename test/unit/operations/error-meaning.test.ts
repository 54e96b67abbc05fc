/** What a stored error means, in words for whoever looks at the deal. */

import { describe, expect, it } from 'vitest'
import { errorMeaning } from '../../../src/operations/error-meaning.js'

describe('what an error means', () => {
  it.each([
    ['guard:TITLE_BLANK', 'the title shows nothing'],
    ['guard:OF_A_LATER_VERSION', 'a rule of the provision was broken'],
    ['constraint:23514', "a rule of the messenger's tables was broken"],
    ['crash:WORKER_DIED', 'the worker died while it was at it'],
  ])('%s: %s', (lastError, meaning) => {
    expect(errorMeaning(lastError)).toBe(meaning)
  })

  it.each(['', ':', 'constructor:x', '<b>:<i>', 'by hand'])('nothing is made of %j', (text) => {
    expect(errorMeaning(text)).toBeUndefined()
  })
})
