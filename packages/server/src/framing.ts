/** Heads that Node accepts although two servers on a way could read them differently (RFC 9112 §11). */
import type { IncomingMessage } from 'node:http'
import { ScanError } from '@quorumscan/errors'

/** RFC 9110 §7.2: a name or an address, and perhaps a port. */
const HOST = /^(?:\[[0-9A-Za-z:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?$/

/**
 * Refuses two hosts and a host that is none (RFC 9112 §3.2), and a body whose coding is not `chunked` alone, as which Node
 * would read it (RFC 9112 §6.1). Where such a request ends is not clear: its connection must be closed (RFC 9112 §11.2).
 *
 * @returns MALFORMED_REQUEST; null: the head is clear.
 */
export function ambiguityOf({
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): ScanError | null {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return new ScanError('MALFORMED_REQUEST', 'no transfer-encoding but chunked is understood')
  const { host = httpVersion === '1.0' ? '' : null } = headers
  // Node demands a host, but not of handshakes.
  if (host === null || !HOST.test(host) || countHosts(rawHeaders) > 1)
    return new ScanError('MALFORMED_REQUEST', 'a request has one host: a name or an address')
  return null
}

/** Node keeps the first of several. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}
