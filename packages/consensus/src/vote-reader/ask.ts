/** What nodes are asked for the sake of items, and their answers cut into votes. The same goes to every node. */
import { batchRequest, cutBatchAnswer, encodeBatch } from '../answers/batch.ts'
import { decodeText, type Reply } from '../answers/reply.ts'
import { isSignature } from '../crypto/crypto.ts'
import { bodiesEqual } from '../encoding/bodies-equal.ts'
import type { TransportRequest } from '../nodes/transport.ts'
import type { ReadRequest } from '../reader/reader-options.ts'
import type { Lookup } from '../statements/requests.ts'
import type { HistoryPoint } from '../statements/statements.ts'
import type { Vote } from '../votes/tally.ts'
import { type Item, isVoteWanted } from './item.ts'

export type Channel = TransportRequest['channel']
export type NodeRequest = Pick<
  TransportRequest,
  'method' | 'path' | 'headers' | 'body' | 'bytesMax'
>
type Answer = Reply & { readonly kind: 'answer' }

/** Votes for the items of an ask, in order, with a signature each where they were asked for. */
export type Votes = {
  readonly votes: readonly Vote[]
  readonly signatures: readonly string[] | null
}

export type Ask = {
  /** `probe`: an empty batch at no offset, which only asks for heads (D-37). */
  readonly kind: 'probe' | 'batch' | 'read'
  readonly channel: Channel
  readonly items: readonly Item[]
  /** The round of the items that this belongs to. */
  readonly pin: number | null
  /** What the nodes are asked for: the pin. Null where they choose. */
  readonly atOffset: number | null
  /** Whether a caller wants signatures, of a page. */
  readonly sign: boolean
  /** With and without signatures, written once. */
  readonly requests: Map<boolean, NodeRequest>
  /** Answers without signatures, cut once. Those with differ between nodes. */
  readonly cut: {
    readonly point: HistoryPoint
    readonly body: Uint8Array<ArrayBuffer>
    readonly votes: Votes | undefined
  }[]
}

export const PROBE: Ask = createAsk('probe', { items: [], pin: null, atOffset: null })

/** Batches are of lookups, reads of one item. */
export function createAsk(
  kind: Ask['kind'],
  options: Pick<Ask, 'items' | 'pin' | 'atOffset'>,
): Ask {
  const sign = kind === 'read' && options.items[0]?.sign === true
  const channel = kind === 'read' ? 'bulk' : 'lookup'
  return { kind, channel, sign, ...options, requests: new Map(), cut: [] }
}

/** Whether the node's vote could still change an item. */
export function isWanted(ask: Ask, node: number): boolean {
  return ask.kind === 'probe' || ask.items.some((item) => isVoteWanted(item, ask.pin, node))
}

export function requestOf(ask: Ask, sign: boolean): NodeRequest {
  let request = ask.requests.get(sign)
  if (request === undefined) {
    request = ask.kind === 'read' ? readRequest(ask, sign) : lookupsRequest(ask)
    const forwarded = ask.items.find(({ headers }) => headers !== undefined)?.headers
    if (forwarded !== undefined)
      request = { ...request, headers: { ...forwarded, ...request.headers } }
    ask.requests.set(sign, request)
  }
  return request
}

function lookupsRequest({ items, atOffset }: Ask): NodeRequest {
  // Batches hold nothing else.
  const lookups = items.map(({ asked }) => (asked as { readonly lookup: Lookup }).lookup)
  return batchRequest(encodeBatch(lookups, atOffset), lookups.length)
}

function readRequest({ items, atOffset }: Ask, sign: boolean): NodeRequest {
  const [item] = items as readonly [Item]
  const { request } = item.asked as { readonly request: ReadRequest } // Its one item is a read.
  return {
    method: request.method,
    path: request.path,
    headers: {
      ...(request.body === null ? {} : { 'content-type': 'application/json' }),
      ...(atOffset === null ? {} : { 'x-read-at-offset': String(atOffset) }),
      ...(sign ? { 'x-read-sign': 'true' } : {}),
    },
    body: request.body,
    bytesMax: request.bytesMax,
  }
}

/**
 * The votes in an answer, as bytes; undefined if it is not of the form of one. Equal answers of several nodes
 * give the same Vote objects.
 */
export function votesIn(ask: Ask, answer: Answer, isSigned: boolean): Votes | undefined {
  if (isSigned) return cutAnswer(ask, answer, true)
  const { point, body } = answer
  const same = ask.cut.find(
    (other) =>
      other.point.offset === point.offset &&
      other.point.recordTime === point.recordTime &&
      other.point.historyHash === point.historyHash &&
      bodiesEqual(other.body, body),
  )
  if (same !== undefined) return same.votes
  const votes = cutAnswer(ask, answer, false)
  ask.cut.push({ point, body, votes })
  return votes
}

function cutAnswer(ask: Ask, answer: Answer, isSigned: boolean): Votes | undefined {
  const { point, body, signature } = answer
  if (ask.kind === 'read') {
    if (isSigned && !isSignature(signature)) return undefined
    const votes = [{ ...point, answer: body }]
    return { votes, signatures: isSigned ? [signature as string] : null }
  }
  const votes = cutBatchAnswer(decodeText(body), ask.items.length)?.map((answer) => ({
    ...point,
    answer,
  }))
  return votes && { votes, signatures: null }
}
