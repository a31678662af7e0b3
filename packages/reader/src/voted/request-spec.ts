/** The request for some items, which is the same for all nodes, and the votes in its answers. */

import { bodiesEqual, type HistoryPoint, type Lookup } from '@quorumscan/verifier'
import { batchRequest, cutBatchAnswer } from '../answers/batch.ts'
import { decodeText, type Reply } from '../answers/reply.ts'
import type { ReadRequest } from '../reader-options.ts'
import type { NodeRequest, TransportRequest } from '../source/transport.ts'
import type { Vote } from '../votes/tally.ts'
import { type Item, isVoteWanted } from './item.ts'

export type Channel = TransportRequest['channel']
type Answer = Reply & { readonly kind: 'answer' }

export type RequestSpec = {
  /** `probe`: an empty batch without an offset, which only asks for heads (D-37). */
  readonly kind: 'probe' | 'batch' | 'read'
  readonly channel: Channel
  readonly items: readonly Item[]
  /** The offset in the request (D-37), and the round of the items that this belongs to. Null: nodes choose it. */
  readonly pin: number | null
  /** Written once. */
  request: NodeRequest | null
  /** Answers, cut once: votes for the items, in order. */
  readonly cut: {
    readonly point: HistoryPoint
    readonly body: Uint8Array<ArrayBuffer>
    readonly votes: readonly Vote[] | undefined
  }[]
}

export const PROBE: RequestSpec = createRequestSpec('probe', { items: [], pin: null })

/** Batches are of lookups, reads of one item. */
export function createRequestSpec(
  kind: RequestSpec['kind'],
  options: Pick<RequestSpec, 'items' | 'pin'>,
): RequestSpec {
  const channel = kind === 'read' ? 'bulk' : 'lookup'
  return { kind, channel, ...options, request: null, cut: [] }
}

/** Whether the node's vote could still change an item. */
export function isWanted(spec: RequestSpec, node: number): boolean {
  return spec.kind === 'probe' || spec.items.some((item) => isVoteWanted(item, spec.pin, node))
}

export function requestOf(spec: RequestSpec): NodeRequest {
  if (spec.request !== null) return spec.request
  const request = spec.kind === 'read' ? readRequest(spec) : lookupsRequest(spec)
  const forwarded = spec.items.find(({ headers }) => headers !== undefined)?.headers
  spec.request =
    forwarded === undefined
      ? request
      : { ...request, headers: { ...forwarded, ...request.headers } }
  return spec.request
}

function lookupsRequest({ items, pin }: RequestSpec): NodeRequest {
  // Batches hold nothing else.
  const lookups = items.map(({ asked }) => (asked as { readonly lookup: Lookup }).lookup)
  return batchRequest(lookups, pin)
}

function readRequest({ items, pin }: RequestSpec): NodeRequest {
  const [item] = items as readonly [Item]
  const { request } = item.asked as { readonly request: ReadRequest } // Its one item is a read.
  return {
    method: request.method,
    path: request.path,
    headers: {
      ...(request.body === null ? {} : { 'content-type': 'application/json' }),
      ...(pin === null ? {} : { 'x-read-at-offset': String(pin) }),
    },
    body: request.body,
    bytesMax: request.bytesMax,
  }
}

/**
 * The votes in an answer, as bytes; undefined if it has another form. Equal answers of several nodes give the same
 * `Vote` objects.
 */
export function votesIn(spec: RequestSpec, { point, body }: Answer): readonly Vote[] | undefined {
  const same = spec.cut.find(
    (other) =>
      other.point.offset === point.offset &&
      other.point.recordTime === point.recordTime &&
      other.point.historyHash === point.historyHash &&
      bodiesEqual(other.body, body),
  )
  if (same !== undefined) return same.votes
  const answers =
    spec.kind === 'read' ? [body] : cutBatchAnswer(decodeText(body), spec.items.length)
  const votes = answers?.map((answer) => ({ ...point, answer }))
  spec.cut.push({ point, body, votes })
  return votes
}
