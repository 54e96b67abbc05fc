/** Certificates for a broker on this machine, by Java's keytool: where a broker runs, it is there. */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface TestCertificates {
  /** PEM of the authority that signed the broker's certificate. */
  readonly caFile: string
  /** PKCS #12 with the broker's key and chain, for 127.0.0.1. */
  readonly keystore: string
}

/**
 * Makes an authority and a certificate signed by it; each call's are strangers to all others.
 *
 * @param password of the keystore, at least six characters.
 */
export async function makeCertificates(
  folder: string,
  password: string,
): Promise<TestCertificates> {
  const id = randomBytes(4).toString('hex')
  const keystore = join(folder, `broker-${id}.p12`)
  const caFile = join(folder, `ca-${id}.pem`)
  const keytool = (command: string, alias: string, ...more: string[]): Promise<unknown> =>
    run('keytool', [
      ...[command, '-alias', alias, '-keystore', keystore, '-storetype', 'PKCS12'],
      ...['-storepass', password, ...more],
    ])
  const key = ['-keyalg', 'EC', '-groupname', 'secp256r1', '-validity', '2']
  await keytool('-genkeypair', 'authority', ...key, '-dname', `CN=authority ${id}`, '-ext', 'bc:c')
  await keytool(
    ...(['-genkeypair', 'broker', ...key, '-dname', 'CN=broker'] as const),
    ...['-signer', 'authority', '-ext', 'san=ip:127.0.0.1,dns:localhost'],
  )
  await keytool('-exportcert', 'authority', '-rfc', '-file', caFile)
  // The authority's key has no business in a broker's keystore, where either key could be taken.
  await keytool('-delete', 'authority')
  return { caFile, keystore }
}
