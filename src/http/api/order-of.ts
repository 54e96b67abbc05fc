/** Who orders a change and why: as the request says, else as the token does. */

import type { FastifyRequest } from 'fastify'
import { readOrder, type Order } from '../../operations/read-input.js'
import type { Caller } from './access.js'

/**
 * @param requestId of a request that is carried out once
 * @throws AppError INPUT_INVALID where the reason is missing, or a text is not readable
 */
export function orderOf(
  request: FastifyRequest,
  { by, reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
  requestId?: string,
): Order {
  const order = readOrder({ by: by ?? request.getDecorator<Caller>('caller').actor, reason })
  return requestId === undefined ? order : { ...order, requestId }
}
