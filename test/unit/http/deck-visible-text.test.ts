/** Text of strangers on a page of The Deck: seen as what it is, and sent back as it was. */

import { describe, expect, it } from 'vitest'
import { makeVisible } from '../../../src/http/deck/visible-text.js'

describe('makeVisible', () => {
  it('shows by its number what would turn or hide other text', () => {
    expect(makeVisible('<td title="a\u202eb">x\u202ey\u0007\u200b\u2066</td>')).toBe(
      '<td title="a[U+202E]b">x[U+202E]y[U+0007][U+200B][U+2066]</td>',
    )
    expect(makeVisible('<title>a\u202eb</title>')).toBe('<title>a[U+202E]b</title>')
  })

  it('keeps a run from right to left to itself, numbers around it too', () => {
    expect(makeVisible('<p>queue שלום עולם 12 is paused</p>')).toBe(
      '<p>queue <bdi>שלום עולם</bdi> 12 is paused</p>',
    )
    expect(makeVisible('<p>א &amp; ב</p>')).toBe('<p><bdi>א</bdi> &amp; <bdi>ב</bdi></p>')
  })

  it('leaves what a form sends back, lines, and joiners', () => {
    for (const html of [
      '<textarea name="payload">a\u202eb &lt;/td> ש</textarea>',
      '<input type="hidden" name="a" value="x > \u202e ש" />',
      '<option value="ש">ש</option>',
      '<pre>a\n\tb\r\n\u200d\u200c</pre>',
      '<p>Объект №1, ЖК «Север»</p>',
    ])
      expect(makeVisible(html)).toBe(html)
  })
})
