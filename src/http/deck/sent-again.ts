/** What is said of a form that was sent before, or may be sent again. */

import type { Notice } from './notice.js'

export const notBegun = 'Nothing was done. What you typed is kept: send it again.'
export const begun =
  'What was done before that stays done. What you typed is kept: send it again, and nothing is done twice.'
export const otherIsOpen =
  'This form was sent before, with other content: that is under way or was broken off, and the audit says what came of it. Of this nothing was done: send it again if you mean it too.'
export const otherWasDone =
  'This form was sent before, with other content, and that was done. Of this nothing was done: send it again if you mean it too.'

export function doneBefore({ text, ...notice }: Notice): Notice {
  return { ...notice, text: `It was sent before, and was not done again. What came of it: ${text}` }
}
