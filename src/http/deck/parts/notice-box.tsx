/** One thing to know, with its tone in colour and in words. */

import type { Notice } from '../notice.js'

const words: Readonly<Record<Notice['tone'], string>> = {
  good: 'Done',
  warn: 'Note',
  bad: 'Not done',
}

export function NoticeBox({ notice }: { readonly notice: Notice }): JSX.Element {
  const { tone, text, link } = notice
  return (
    <div class={['notice', tone]} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong safe>{words[tone]}</strong>
      <span safe>{text}</span>
      {link !== undefined && (
        <a href={link.href} safe>
          {link.text}
        </a>
      )}
    </div>
  )
}
