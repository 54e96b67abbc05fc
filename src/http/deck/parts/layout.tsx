/** The frame of every page: where one is, who one is, whether what one sees is live. */

import type { Children } from '@kitajs/html'
import type { Visitor } from '../context.js'
import type { Notice } from '../notice.js'
import { sections, type Section } from '../sections.js'
import { FormToken } from './form.js'
import { NoticeBox } from './notice-box.js'

/** What may change under a page while it is open, by the names of the stream of events. */
export type Watched = 'provisions' | 'outbox' | 'jobs' | 'queues' | 'runs'

export interface LayoutProps {
  readonly title: string
  readonly section: Section | undefined
  /** The page is read anew when one of these changes; none: it stays as it is. */
  readonly watch?: readonly Watched[]
  /** Absent: nobody has logged in. */
  readonly visitor: Visitor | undefined
  readonly notice: Notice | undefined
  readonly children?: Children
}

export function Layout(props: LayoutProps): JSX.Element {
  const { title, section, watch = [], visitor, notice, children } = props
  return (
    <>
      {'<!doctype html>'}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title safe>{`${title} · The Deck`}</title>
          <link rel="icon" href="/deck/assets/deck.svg" type="image/svg+xml" />
          <link rel="stylesheet" href="/deck/assets/deck.css" />
          <script type="module" src="/deck/assets/deck.js" />
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to the content
          </a>
          <header class="top">
            <a class="brand" href="/deck">
              The Deck
            </a>
            {visitor !== undefined && <Navigation section={section} />}
            <p id="live" class="live" role="status" />
            {visitor !== undefined && <Who visitor={visitor} />}
          </header>
          <div id="notices">{notice !== undefined && <NoticeBox notice={notice} />}</div>
          <main id="main" tabindex="-1" data-watch={watch.length > 0 && watch.join(' ')}>
            {children}
          </main>
        </body>
      </html>
    </>
  )
}

function Navigation({ section }: { readonly section: Section | undefined }): JSX.Element {
  return (
    <nav aria-label="Pages">
      <ul>
        {sections.map(({ name, href, text }) => (
          <li>
            <a href={href} aria-current={name === section && 'page'}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function Who({ visitor }: { readonly visitor: Visitor }): JSX.Element {
  const { caller, canChange, hasLogin } = visitor
  return (
    <div class="who">
      <span class="who-name" title={`You are on record as ${caller.actor}`} safe>
        {caller.actor}
      </span>
      {!canChange && <span class="badge">read only</span>}
      {hasLogin && (
        <form method="post" action="/deck/logout">
          <FormToken visitor={visitor} />
          <button class="quiet">Log out</button>
        </form>
      )}
    </div>
  )
}
