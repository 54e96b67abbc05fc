/**
 * Changes that may be sent again: with the header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header)
 * one is carried out once, and whoever sends it again gets the answer of the first. Refusals and faults are
 * not kept: the same key may then come again.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { AppError } from '../../errors.js'
import { carryOutOnce, requestOf, type Keep } from '../../operations/once.js'
import type { Database } from '../../postgres/schema.js'
import { problem } from '../problem-of-error.js'
import { sendProblem, type Problem } from '../problem.js'
import type { Caller } from './access.js'

const name = 'idempotency-key'

/** Of every route that changes something. */
export const changeHeaders = z.looseObject({
  [name]: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({
      description:
        'Of your choice, new for each change, such as a UUID; kept for 7 days. The same key and body get ' +
        'the same answer again, and nothing is done twice.',
    }),
})

export type ChangeEnd =
  | {
      readonly body: object
      readonly status?: 202
      /** It was ended before all was done: the same key goes on with the rest. */
      readonly stopped?: boolean
    }
  | { readonly refusal: Problem }

type Done = Extract<ChangeEnd, { body: object }>

/**
 * @param change is given the request's id, where there is a key: orders and jobs carry it; and how to keep
 *   its end in the transaction that makes it
 */
export async function changeOnce(
  db: Kysely<Database>,
  request: FastifyRequest,
  reply: FastifyReply,
  change: (requestId: string | undefined, keep: Keep<ChangeEnd>) => Promise<ChangeEnd>,
): Promise<FastifyReply> {
  const key = request.headers[name]
  try {
    if (typeof key !== 'string')
      return await answer(reply, accepted(await change(undefined, keepNothing)))
    const { actor } = request.getDecorator<Caller>('caller')
    const once = await carryOutOnce<Done>(
      db,
      requestOf(['api', actor, request.method, request.url, key], request.body),
      async ({ id }, keep) =>
        whole(accepted(await change(id, (trx, end) => keep(trx, whole(accepted(end)))))),
      { whileUnderWay: 'refuse' },
    )
    return await (once.isOther ? sendProblem(reply, otherBody) : answer(reply, once.outcome))
  } catch (error) {
    if (error instanceof Refused) return sendProblem(reply, error.refusal)
    throw error
  }
}

/** Without a key nobody can ask again. */
const keepNothing = (): Promise<void> => Promise.resolve()

const otherBody: Problem = {
  ...problem(422, 'This Idempotency-Key came before with another body. Nothing was done.'),
  title: 'Key of another request',
}

function answer(reply: FastifyReply, { status, body }: Done): FastifyReply {
  return reply.code(status ?? 200).send(body)
}

class Refused extends Error {
  readonly refusal: Problem

  constructor(refusal: Problem) {
    super(refusal.title)
    this.refusal = refusal
  }
}

/** Thrown, and so not kept. */
function accepted(end: ChangeEnd): Done {
  if ('refusal' in end) throw new Refused(end.refusal)
  return end
}

function whole({ body, status, stopped }: Done): Done {
  if (stopped !== true) return { body, ...(status && { status }) }
  const detail = 'It was ended before all was done. Send the same again: it goes on from there.'
  throw new AppError('DATABASE_UNAVAILABLE', detail)
}
