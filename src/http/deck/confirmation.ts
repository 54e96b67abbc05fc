/**
 * What a form has shown is what it acts on: it carries that along, and where that is no longer so nothing
 * is done.
 */

import { AppError } from '../../errors.js'
import { digest } from '../api/access.js'
import { FieldError } from './field-fault.js'
import type { ActionView } from './parts/action-form.js'
import { one, type Values } from './values.js'

/**
 * What was shown is what is done: a number that has changed since is confirmed anew. Where not all are
 * done at once the number of all counts too: a form that was broken off and is sent again must not go
 * on to the next ones.
 */
export function checkConfirmed(view: ActionView, values: Values): void {
  const { typed, isVoid } = view
  if (typed === undefined) return
  const [given, seen, now] = [one(values, 'typed'), one(values, 'seen'), seenOf(view)]
  const changed = seen !== undefined && seen !== now
  const since = changed ? `It was ${seen} when you looked, and is ${now} by now. ` : ''
  if (isVoid === true) {
    throw new AppError('USAGE', `${since}There is nothing left to do. Nothing was done.`)
  }
  if (typed === given && (!changed || view.ofAll === undefined)) return
  throw new FieldError('typed', `${since}Type ${typed} to confirm. Nothing was done.`)
}

/** What the form shows that was there when it was opened. */
export function seenOf({ typed, ofAll, initial }: ActionView): string | undefined {
  if (typed !== undefined && ofAll !== undefined) return `${typed} of ${ofAll}`
  if (typed !== undefined || initial === undefined) return typed
  return digest(JSON.stringify(initial)).toString('base64url')
}

/** What a field began with is written over only by whoever has seen it. */
export function checkUnchanged(view: ActionView, values: Values): void {
  if (view.initial === undefined || one(values, 'seen') === seenOf(view)) return
  throw new AppError('USAGE', changedSince)
}

const changedSince =
  'It was changed since you opened this form, and nothing was done. What you typed is kept here: open it ' +
  'as it is now, and change that.'
