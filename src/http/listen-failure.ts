/** Why the server can't listen, for whoever chose the address. */

import type { Config } from '../config/config.js'
import { AppError } from '../errors.js'

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another program listens there. Stop it, or set HTTP_PORT to a free port (0 picks one)',
  EACCES: 'that port is only for privileged programs. Set HTTP_PORT to one above 1023',
  EADDRNOTAVAIL: 'that address is not of this machine. Set HTTP_HOST to one of its own',
  ENOTFOUND: 'no such host is known. Set HTTP_HOST to an address of this machine',
  EAI_AGAIN: 'the host name could not be looked up. Set HTTP_HOST to an address of this machine',
}

/** Anything without a remedy is given back as it is. */
export function explainListenFailure(error: unknown, { host, port }: Config['http']): unknown {
  const { code } = error as { code?: unknown }
  const remedy = typeof code === 'string' ? remedies[code] : undefined
  if (remedy === undefined) return error
  return new AppError('CONFIG_INVALID', `can't listen at ${host}:${port}: ${remedy}.`, {
    cause: error,
  })
}
