/** What is wrong with one field of a form, so that it can be told beside it. */

import { ChokaqError, type ChokaqErrorCode } from '../../chokaq/index.js'
import { AppError } from '../../errors.js'

export class FieldError extends AppError {
  /** Its name. */
  readonly field: string

  constructor(field: string, message: string) {
    super('INPUT_INVALID', message)
    this.field = field
  }
}

export interface FieldFault {
  readonly field: string
  readonly text: string
}

/** What the retry core refuses, by the fields of the forms that it comes from. */
const fieldsOfCodes: Partial<Readonly<Record<ChokaqErrorCode, string>>> = {
  PAYLOAD_TOO_LARGE: 'payload',
  PAYLOAD_NOT_JSON: 'payload',
  PAYLOAD_INVALID: 'payload',
  TAGS_INVALID: 'tags',
  PRIORITY_OUT_OF_RANGE: 'priority',
  QUEUE_LIMIT_INVALID: 'maxWorkers',
}

/** Undefined for what is no single field's fault. */
export function fieldOf(error: unknown): string | undefined {
  if (error instanceof FieldError) return error.field
  return error instanceof ChokaqError ? fieldsOfCodes[error.code] : undefined
}

/** What `read` finds wrong is the field's. @throws FieldError */
export function inField<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && error.code === 'INPUT_INVALID')
      throw new FieldError(field, error.message)
    throw error
  }
}
