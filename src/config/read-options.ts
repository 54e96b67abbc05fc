/** From the environment to parsed values: `NAME` or what the file named by `NAME_FILE` holds. */

import { readFileSync } from 'node:fs'
import type { Needs, Option } from './option.js'
import { optionList, type OptionName, type OptionValues } from './options.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** One line that says what is wrong and what is allowed. */
export type Fault = string

interface ReadOptions {
  /** What could be parsed; the others have a fault, or stay unset. */
  readonly values: Partial<OptionValues>
  /** What was given, whether by NAME or by NAME_FILE. */
  readonly texts: ReadonlyMap<OptionName, string>
  readonly faults: readonly Fault[]
}

/** Longer ones are somebody's file by mistake; a fault is for reading. */
const maxQuotedLength = 80

/** An empty variable is an unset one: compose files and charts can't leave one out. */
export function setIn(env: Environment, name: string): string | undefined {
  const text = env[name]
  return text === '' ? undefined : text
}

/** An option that is a path itself is not read from another file. */
export function fileNameOf(name: string): string | undefined {
  return name.endsWith('_FILE') ? undefined : `${name}_FILE`
}

export function readOptions(env: Environment, needs: Needs): ReadOptions {
  const faults: Fault[] = []
  const values: Partial<Record<OptionName, unknown>> = {}
  const texts = new Map<OptionName, string>()
  for (const [name, option] of optionList) {
    const found = findText(env, name, option, needs)
    if (found.fault !== undefined) faults.push(found.fault)
    if (found.text !== undefined) texts.set(name, found.text)
    const text = found.text ?? option.default
    if (found.fault !== undefined || text === undefined) continue
    values[name] = option.kind.parse(text)
    if (values[name] === undefined) faults.push(notAllowed(name, option, text))
  }
  return { values: values as Partial<OptionValues>, texts, faults }
}

interface Found {
  readonly text?: string | undefined
  readonly fault?: Fault
}

function findText(
  env: Environment,
  name: OptionName,
  option: Option<unknown>,
  needs: Needs,
): Found {
  const text = setIn(env, name)
  const fileName = fileNameOf(name)
  const file = fileName === undefined ? undefined : setIn(env, fileName)
  if (fileName === undefined || file === undefined) return { text }
  if (text !== undefined) {
    return { fault: `${name} and ${fileName} are both set: keep one of them` }
  }
  if (option.need !== undefined && !needs[option.need]) return {}
  return readText(fileName, file)
}

function readText(fileName: string, file: string): Found {
  try {
    // What editors and `echo` leave at the end is no part of a secret.
    const text = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '')
    return text === '' ? { fault: `${fileName} names an empty file: ${file}` } : { text }
  } catch (error) {
    return { fault: `${fileName} names a file that can't be read: ${file} (${reason(error)})` }
  }
}

/** The system's code, ENOENT or EACCES: the message would repeat the path. */
export function reason(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : 'unreadable'
}

function notAllowed(name: OptionName, option: Option<unknown>, text: string): Fault {
  // An @ may be the end of a password that was put into the wrong variable.
  if (option.secret === true || text.includes('@')) return `${name} must be ${option.kind.allowed}`
  const quoted = JSON.stringify(text.slice(0, maxQuotedLength))
  return `${name} must be ${option.kind.allowed}, not ${quoted}`
}
