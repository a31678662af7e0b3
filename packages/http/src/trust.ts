/** By which certificates this process knows the processes that it connects to. */
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { readNamed } from './certificate.ts'

/**
 * What takes the certificates in the file for good, beside those that every Node trusts; null where there is no file.
 *
 * @throws {Error} That names the variable whose file cannot be read, or holds no certificate.
 */
export async function readTrust(caFile: string | null): Promise<SecureContext | null> {
  if (caFile === null) return null
  const own = (await readNamed('QS_PEER_CA', caFile)).toString()
  // Of what is none, Node would say nothing.
  if (!own.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(`QS_PEER_CA: ${caFile} holds no certificate`)
  try {
    return createSecureContext({ ca: [...rootCertificates, own] })
  } catch (cause) {
    throw new Error(`QS_PEER_CA: ${(cause as Error).message}`, { cause })
  }
}
