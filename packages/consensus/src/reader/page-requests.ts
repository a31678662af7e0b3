/** Requests for pages and other operations, on the connections for large answers. */

import { isSignature } from '../crypto/crypto.ts'
import type { Item } from './item.ts'
import { createWork, type ItemsWork, type WorkOptions } from './node-requests.ts'

/** A page or another operation. */
export function createReadWork(options: WorkOptions & { readonly item: Item }): ItemsWork {
  const { asked } = options.item
  if (asked.kind !== 'read') throw new TypeError('a lookup travels in a batch')
  const { request } = asked
  return createWork(options, {
    channel: 'bulk',
    request: (sign) => ({
      method: request.method,
      path: request.path,
      headers: {
        ...(request.body === null ? {} : { 'content-type': 'application/json' }),
        ...(options.atOffset === null ? {} : { 'x-read-at-offset': String(options.atOffset) }),
        ...(sign ? { 'x-read-sign': 'true' } : {}),
      },
      body: request.body,
      bytesMax: request.bytesMax,
      // What was decided is answered: one that is longer has lost, and is not worth megabytes.
      bytesWanted: () => options.item.decided?.answer.byteLength ?? request.bytesMax,
    }),
    cut(reply, isSigned) {
      if (isSigned && !isSignature(reply.signature)) return undefined
      return {
        votes: [{ ...reply.point, answer: reply.body }],
        signatures: isSigned ? [reply.signature as string] : null,
      }
    },
  })
}
