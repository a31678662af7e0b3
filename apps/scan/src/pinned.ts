/**
 * Answers at one offset (D-10). An answer's bytes are what is compared, and with `sign` (D-41) what is
 * signed: a signer needs the request, the place in history and these bytes, and gets them here.
 */
import { utf8 } from '@quorumscan/base'
import type { CanonicalRequest } from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import { formatTime, type Offset } from '@quorumscan/model'
import type { Pinned, Replica } from '@quorumscan/replica'

const COMMA = utf8(',')

/** One answer, before it is put into the reply or a batch. */
export type Answer = { readonly request: CanonicalRequest; readonly bytes: Uint8Array }

/** The part of the replica that answers are made from. */
export type Reads = Pick<
  Replica,
  | 'pin'
  | 'lookupNames'
  | 'lookupParties'
  | 'listByPrefix'
  | 'listByParty'
  | 'documentAsOf'
  | 'activities'
>

/** Headers of every answer, and of the 404 that stands for one. */
export function pinnedHeaders(at: Pinned): Readonly<Record<string, string>> {
  return {
    'x-ledger-offset': String(at.offset),
    'x-ledger-record-time': formatTime(at.recordTime),
    'x-ledger-history-hash': at.historyHash,
    'cache-control': 'no-store',
  }
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
  signal: AbortSignal,
): Promise<Pinned> {
  if (asked.at !== null && asked.at < asked.floor)
    throw new ScanError('INVALID_ARGUMENT', 'at_offset lies below min_offset', {
      details: { path: 'body.at_offset', rule: 'must be at least min_offset' },
    })
  const newest = await reads.pin(asked.at, signal)
  return newest.offset >= asked.floor ? newest : reads.pin(asked.floor, signal)
}
