/**
 * Answers at one offset (D-10). An answer's bytes are what is compared, and with `sign` what is signed,
 * together with the request and the place in history (D-41).
 */
import { utf8 } from '@quorumscan/base'
import type { CanonicalRequest } from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import { formatTime, type Offset } from '@quorumscan/model'
import type { Pinned, Replica } from '@quorumscan/replica'
import type { Signer } from './signer.ts'

const COMMA = utf8(',')

/** Headers of the requests that are answered alone: where to read. */
export type ReadHeaders = { readonly 'x-read-at-offset'?: number }

/** The part of the replica that answers are made from. */
export type Reads = Pick<
  Replica,
  | 'pin'
  | 'pinNow'
  | 'lookupNames'
  | 'lookupParties'
  | 'listByPrefix'
  | 'listByParty'
  | 'documentAsOf'
  | 'documentsAsOf'
  | 'activities'
>

type Headers = Readonly<Record<string, string>>

/** Many answers are given at one offset. */
const headersOfPinned = new WeakMap<Pinned, Headers>()

/** Headers of every answer, and of the 404 that stands for one. */
export function pinnedHeaders(at: Pinned): Headers {
  const known = headersOfPinned.get(at)
  if (known !== undefined) return known
  const headers = {
    'x-ledger-offset': String(at.offset),
    'x-ledger-record-time': formatTime(at.recordTime),
    'x-ledger-history-hash': at.historyHash,
  }
  headersOfPinned.set(at, headers)
  return headers
}

/**
 * The offset to read at, the newest for null; waits for one that is close ahead (D-10).
 *
 * @throws {ScanError} OFFSET_NOT_REACHED, OFFSET_PRUNED, OVERLOADED.
 */
export async function pinAt(
  reads: Reads,
  at: Offset | null,
  request: { readonly signal: AbortSignal },
): Promise<Pinned> {
  // The signal is made when it is asked for: hardly any read waits.
  return reads.pinNow(at) ?? (await reads.pin(at, request.signal))
}

/** Bodies as the items of a JSON array. */
export function commaSeparated(bodies: readonly Uint8Array[]): Uint8Array[] {
  return bodies.flatMap((body, index) => (index === 0 ? [body] : [COMMA, body]))
}

/** `pinnedHeaders`, with the signature of the answer where the request asks for it. */
export function answerHeaders(
  answer: {
    readonly request: CanonicalRequest
    /** The body, or the value whose JSON it is. */
    readonly body: object | Uint8Array
  },
  options: {
    readonly at: Pinned
    readonly asked: { readonly 'x-read-sign'?: boolean }
    readonly signer: Signer
  },
): Headers {
  const headers = pinnedHeaders(options.at)
  if (options.asked['x-read-sign'] !== true) return headers
  const { request, body } = answer
  const bytes = body instanceof Uint8Array ? body : utf8(JSON.stringify(body))
  return { ...headers, 'x-ledger-signature': options.signer.answer({ request, bytes }, options.at) }
}

/**
 * The offset to read at: the one asked for, else the newest, but none below the floor.
 *
 * @throws {ScanError} INVALID_ARGUMENT if they contradict each other; OFFSET_NOT_REACHED, OFFSET_PRUNED.
 */
export async function pinAbove(
  reads: Reads,
  asked: { readonly at: Offset | null; readonly floor: Offset },
  request: { readonly signal: AbortSignal },
): Promise<Pinned> {
  if (asked.at !== null && asked.at < asked.floor)
    throw new ScanError('INVALID_ARGUMENT', 'at_offset lies below min_offset', {
      details: { path: 'body.at_offset', rule: 'must be at least min_offset' },
    })
  const newest = await pinAt(reads, asked.at, request)
  return newest.offset >= asked.floor ? newest : pinAt(reads, asked.floor, request)
}
