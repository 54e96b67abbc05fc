/**
 * The shape of a job's payload, as any library that speaks Standard Schema (https://standardschema.dev:
 * zod, valibot, arktype, …) writes it; so the core depends on none of them.
 */

/** The part of Standard Schema v1 that is used here. */
export interface PayloadSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Verdict<Output> | Promise<Verdict<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type Verdict<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

export type CheckedPayload<T> =
  | { readonly ok: true; readonly payload: T }
  /** One line for each thing that is wrong; values are never quoted. */
  | { readonly ok: false; readonly why: string }

/**
 * Milliseconds until a schema that checks asynchronously is taken to hang. Each job that waits for its
 * check holds a place that others could have, and few of them would be all that there are.
 */
const answerWithinMs = 10_000

/**
 * Checks a payload as it is stored: JSON text in, what the handler receives out. A promise only where the
 * schema itself answers with one.
 */
export function readPayload<T>(
  schema: PayloadSchema<unknown, T>,
  text: string,
  limitMs = answerWithinMs,
): CheckedPayload<T> | Promise<CheckedPayload<T>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message would quote the text.
    return { ok: false, why: 'it is not JSON' }
  }
  try {
    const verdict = schema['~standard'].validate(value)
    return 'then' in verdict ? inTime(verdict, limitMs) : judge(verdict)
  } catch (error) {
    return schemaFailed(error)
  }
}

async function inTime<T>(answer: Promise<Verdict<T>>, limitMs: number): Promise<CheckedPayload<T>> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<CheckedPayload<T>>((resolve) => {
    const late = { ok: false, why: `the schema gave no answer in ${limitMs} ms` } as const
    timer = setTimeout(() => resolve(late), limitMs)
  })
  try {
    // What comes after the time is up is heard by nobody.
    return await Promise.race([answer.then(judge), tooLate])
  } catch (error) {
    return schemaFailed(error)
  } finally {
    clearTimeout(timer)
  }
}

function judge<T>(verdict: Verdict<T>): CheckedPayload<T> {
  if (verdict.issues === undefined) return { ok: true, payload: verdict.value }
  return { ok: false, why: verdict.issues.map(describeIssue).join('\n') }
}

/** A rule of the schema's that fails on a payload knows nothing of it; its message may quote it. */
function schemaFailed(error: unknown): CheckedPayload<never> {
  return { ok: false, why: `the schema itself failed on it: ${whereItFailed(error)}` }
}

function whereItFailed(error: unknown): string {
  if (!(error instanceof Error)) return 'it threw something that is no Error'
  const [place] = /^ +at .*$/m.exec(String(error.stack)) ?? []
  return [error.constructor.name, place?.trim()].filter(Boolean).join(' ')
}

function describeIssue({ message, path }: Issue): string {
  const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
}
