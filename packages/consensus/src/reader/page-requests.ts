/** Requests for pages and other operations, on the connections for large answers. */

import { parseJson } from '../answers/reply.ts'
import { isSignature } from '../answers/signed-batch.ts'
import type { Item } from './item.ts'
import { createWork, type ItemsWork, type WorkOptions } from './node-requests.ts'

/** Pages of 1000 entries of 1.2 kB, and activities, stay far below. */
const BULK_ANSWER_BYTES_MAX = 8 * 1024 * 1024

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
      bytesMax: BULK_ANSWER_BYTES_MAX,
    }),
    parse(reply, sign) {
      const body = parseJson(reply.body)
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
      if (!isObject || request.isValid?.(body) === false) return undefined
      if (sign && !isSignature(reply.signature)) return undefined
      return {
        votes: [{ ...reply.point, answer: new Uint8Array(reply.body) }],
        signatures: sign ? [reply.signature as string] : null,
      }
    },
  })
}
