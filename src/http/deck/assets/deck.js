/**
 * Keeps an open page as it is now: hears from the stream of events that something has changed, reads the
 * same address again and changes what differs. It never touches what somebody is at: a field that is
 * typed in, a row that is chosen, text that is marked. While it can't, the page says so, and since when.
 */

import { Idiomorph } from './idiomorph.js'

const main = document.getElementById('main')
const mark = document.getElementById('live')
const watched = (main.dataset.watch ?? '').split(' ').filter(Boolean)

/** A burst of events is one look. */
const gatherMs = 300
/** The figures of the overview are shared for so long: what came just before is seen by a second look. */
const settleMs = 5_500
/** Ages go on although nothing changes, and a database that is away tells nobody. */
const idleMs = 15_000
/** After a refusal; a stream that is only broken the browser itself takes up again. */
const reopenMs = 4_000

let stream
let reopening
let timer
let settling
let looking = false
let again = false
let isOpen = false
let seenAt = new Date()

function tell(state, text) {
  if (mark.dataset.state === state && mark.textContent === text) return
  mark.dataset.state = state
  mark.textContent = text
}

function clock(time) {
  return time.toISOString().slice(11, 19)
}

function tellStale() {
  if (mark.dataset.state === 'ended') return
  tell('stale', `stale since ${clock(seenAt)} UTC`)
}

/** In another tab, for whoever has typed something here; this page goes on by itself afterwards. */
function tellEnded() {
  if (mark.dataset.state === 'ended') return
  const next = location.pathname + location.search
  const link = document.createElement('a')
  link.href = `/deck/login?${new URLSearchParams({ next })}`
  link.target = '_blank'
  link.textContent = 'log in again'
  mark.dataset.state = 'ended'
  mark.replaceChildren('session ended: ', link)
}

/** The login is what a page leads to whose session has ended. */
function hasEnded(response) {
  return response.redirected && new URL(response.url).pathname === '/deck/login'
}

/** Asked while the page must stay as it is, or the stream is refused without saying why. */
async function seeWhetherEnded() {
  try {
    if (hasEnded(await fetch(location.href, { method: 'HEAD' }))) tellEnded()
    else if (mark.dataset.state === 'ended') tell('waiting', 'logged in again')
  } catch {
    tellStale()
  }
}

/** Somebody is at work on this page, and it must not change under their hands. */
function whyWait() {
  const active = document.activeElement
  if (active !== null && main.contains(active)) {
    if (active.matches('textarea, select, input:not([type=checkbox])')) return 'while you type'
    if (active.closest('tbody') !== null) return 'while you are in the list'
  }
  if (main.querySelector('tbody input:checked') !== null) return 'while rows are chosen'
  for (const field of main.querySelectorAll('input, textarea, select')) {
    if (isChanged(field)) return 'while a field is changed'
  }
  if (main.querySelector('dialog[open]') !== null) return 'while a question is open'
  const marked = document.getSelection()
  if (marked !== null && !marked.isCollapsed && marked.containsNode(main, true)) {
    return 'while text is marked'
  }
  return undefined
}

/** By somebody here, or by the browser, which has brought back what was in it. */
function isChanged(field) {
  if (field.matches('[type=checkbox], [type=radio]')) return field.checked !== field.defaultChecked
  if (!field.matches('select')) return field.type !== 'hidden' && field.value !== field.defaultValue
  const options = [...field.options]
  const byDefault = options.some(({ defaultSelected }) => defaultSelected)
  // Of one that chooses a single option the browser has taken the first where none is marked.
  if (!byDefault && !field.multiple) return field.selectedIndex > 0
  return options.some(({ selected, defaultSelected }) => selected !== defaultSelected)
}

function lookSoon(afterMs = gatherMs) {
  clearTimeout(timer)
  timer = setTimeout(look, afterMs)
}

async function look() {
  if (document.hidden) return
  if (looking) {
    again = true
    return
  }
  const reason = whyWait()
  if (reason !== undefined) {
    // With a live stream the session is there; without one it may be that which has ended.
    if (isOpen) tell('waiting', `waits ${reason}`)
    lookSoon(1_000)
    return
  }
  looking = true
  let nextMs = idleMs
  try {
    await readAnew()
    seenAt = new Date()
    if (isOpen) tell('live', 'live')
    else if (mark.dataset.state === 'ended') reopen()
  } catch {
    tellStale()
    nextMs = reopenMs
  } finally {
    looking = false
    lookSoon(again ? gatherMs : nextMs)
    again = false
  }
}

async function readAnew() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  // What is on the page stays there to be read.
  if (hasEnded(response)) tellEnded()
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`)
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  const reason = whyWait()
  if (reason !== undefined) {
    again = true
    return
  }
  Idiomorph.morph(main, fresh.getElementById('main').innerHTML, {
    morphStyle: 'innerHTML',
    ignoreActiveValue: true,
    callbacks: {
      // Figures that end at the right begin elsewhere with each digit more: as new text they stand where
      // they belong, as the same text they would count as having moved.
      beforeNodeMorphed: (old, next) => {
        if (old.nodeType !== Node.TEXT_NODE || old.data === next.data) return true
        if (old.parentElement.closest('.of-number') === null) return true
        old.replaceWith(next.cloneNode())
        return false
      },
      // What the visitor has unfolded stays unfolded.
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node.matches('details, dialog')),
    },
  })
  main.dataset.watch = fresh.getElementById('main').dataset.watch ?? ''
  document.title = fresh.title
}

function changed() {
  lookSoon()
  clearTimeout(settling)
  settling = setTimeout(lookSoon, settleMs)
}

function reopen() {
  stream?.close()
  open()
}

function open() {
  clearTimeout(reopening)
  stream = new EventSource('/api/v1/events')
  stream.addEventListener('open', () => {
    isOpen = true
    // What was missed meanwhile: the stream begins with all resources, so this is told soon.
    changed()
  })
  stream.addEventListener('error', () => {
    isOpen = false
    tellStale()
    if (stream.readyState !== EventSource.CLOSED) return
    void seeWhetherEnded()
    reopening = setTimeout(open, reopenMs)
  })
  for (const name of watched) stream.addEventListener(name, changed)
}

function close() {
  for (const pending of [timer, settling, reopening]) clearTimeout(pending)
  stream?.close()
  stream = undefined
  isOpen = false
}

function follow() {
  if (document.hidden) {
    close()
    tell('hidden', 'paused')
  } else if (stream === undefined) open()
}

if (watched.length > 0) {
  document.addEventListener('visibilitychange', follow)
  // A page that goes into the browser's memory and comes back from there opens a new stream.
  addEventListener('pagehide', close)
  addEventListener('pageshow', follow)
  follow()
}

/** How many rows are chosen, and all at once. */
function showChosen(form) {
  const boxes = [...form.querySelectorAll('tbody input[type=checkbox]')]
  const chosen = boxes.filter((box) => box.checked).length
  const all = form.querySelector('[data-choose-all]')
  form.querySelector('[data-chosen-count]').textContent = chosen === 0 ? '' : `${chosen} chosen`
  all.checked = chosen > 0 && chosen === boxes.length
  all.indeterminate = chosen > 0 && chosen < boxes.length
}

document.documentElement.classList.add('scripted')
document.addEventListener('change', ({ target }) => {
  const form = target.closest('form[data-choice]')
  if (form === null) return
  if (target.matches('[data-choose-all]')) {
    for (const box of form.querySelectorAll('tbody input[type=checkbox]')) {
      box.checked = target.checked
    }
  }
  showChosen(form)
})
