/**
 * What a form has shown is what it acts on: it carries that along, and where that is no longer so nothing
 * is done.
 */

import { AppError } from '../../errors.js'
import { digest } from '../api/access.js'
import { FieldError } from './field-fault.js'
import type { ActionView } from './parts/action-form.js'
import { one, type Values } from './values.js'

/** What was shown is what is done: a number that has changed since is confirmed anew. */
export function checkConfirmed({ typed, isVoid }: ActionView, values: Values): void {
  if (typed === undefined) return
  const [given, seen] = [one(values, 'typed'), one(values, 'seen')]
  const changed = seen !== undefined && seen !== typed
  const since = changed ? `It was ${seen} when you looked, and is ${typed} by now. ` : ''
  if (isVoid === true) {
    throw new AppError('USAGE', `${since}There is nothing left to do. Nothing was done.`)
  }
  if (typed === given) return
  throw new FieldError('typed', `${since}Type ${typed} to confirm. Nothing was done.`)
}

/** What the form shows that was there when it was opened. */
export function seenOf({ typed, initial }: ActionView): string | undefined {
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
