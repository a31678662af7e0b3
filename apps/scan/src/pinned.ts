/** Answers at one offset (D-10). */
import { utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Pinned, Replica } from '@quorumscan/replica'
import type { WaitingRequest } from '@quorumscan/server'
import { formatInstant as formatTime } from '@quorumscan/verifier'

const COMMA = utf8(',')

/** Headers of the requests that are answered alone: where to read. */
export type ReadHeaders = { readonly 'x-read-at-offset'?: number }

/** The part of the replica that answers are made from. */
export type Reads = Pick<Replica, 'pin' | 'pinNow' | 'lookups' | 'contractsByKey' | 'head'>

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
export function pinAt(
  reads: Reads,
  at: Offset | null,
  request: WaitingRequest,
): Pinned | Promise<Pinned> {
  return reads.pinNow(at) ?? request.waiting(() => reads.pin(at, request.signal))
}

/** Bodies as the items of a JSON array. */
export function commaSeparated(bodies: readonly Uint8Array[]): Uint8Array[] {
  return bodies.flatMap((body, index) => (index === 0 ? [body] : [COMMA, body]))
}

/**
 * The offset to read at: the one asked for, else the newest, but none below the floor.
 *
 * @throws {ScanError} INVALID_ARGUMENT if they contradict each other; OFFSET_NOT_REACHED, OFFSET_PRUNED.
 */
export async function pinAbove(
  reads: Reads,
  asked: { readonly at: Offset | null; readonly floor: Offset },
  request: WaitingRequest,
): Promise<Pinned> {
  if (asked.at !== null && asked.at < asked.floor)
    throw new ScanError('INVALID_ARGUMENT', 'at_offset lies below min_offset', {
      details: { path: 'body.at_offset', rule: 'must be at least min_offset' },
    })
  const newest = await pinAt(reads, asked.at, request)
  return newest.offset >= asked.floor ? newest : pinAt(reads, asked.floor, request)
}
