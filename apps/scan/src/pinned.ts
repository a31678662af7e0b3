/** Answers at one offset (D-10). */
import { type CertifiedAnswers, isCertified } from '@quorumscan/certifier'
import { ScanError } from '@quorumscan/errors'
import type { Head } from '@quorumscan/ledger'
import type { Offset } from '@quorumscan/model'
import type { Pinned, Replica } from '@quorumscan/replica'
import { type WaitingRequest, withWaitOf } from '@quorumscan/server'
import { formatInstant } from '@quorumscan/verifier'
import type { StateQuery } from '@quorumscan/verifier/certified'

/** A request that is answered alone: its header names the offset to read at. */
export type ReadRequest = WaitingRequest & {
  readonly headers: { readonly 'x-read-at-offset'?: number }
}

/** The part of the replica that answers are made from. */
export type Reads = Pick<Replica, 'pin' | 'pinNow' | 'lookups' | 'contractsByKey' | 'head'>

type Headers = Readonly<Record<string, string>>

/** Makes headers once for each object: many answers are given at one offset. */
function headersOf<Subject extends object>(make: (subject: Subject) => Headers) {
  const headersBySubject = new WeakMap<Subject, Headers>()
  return (subject: Subject): Headers => {
    const known = headersBySubject.get(subject)
    if (known !== undefined) return known
    const headers = make(subject)
    headersBySubject.set(subject, headers)
    return headers
  }
}

/** Headers of every answer, including the 404 of a name without an entry. */
export const pinnedHeaders = headersOf((at: Pinned) => ({
  'x-ledger-offset': String(at.offset),
  'x-ledger-record-time': formatInstant(at.recordTime),
  'x-ledger-history-hash': at.historyHash,
}))

/** Headers of every answer and every error (D-10): the newest offset that the node has applied. */
export const headHeaders = headersOf((head: Pick<Head, 'offset' | 'recordTime'>) => ({
  'x-ledger-head': String(head.offset),
  'x-ledger-head-time': formatInstant(head.recordTime),
}))

/**
 * The offset to read at, the newest for null; waits for one that is close ahead (D-10).
 *
 * @throws {ScanError} OFFSET_NOT_REACHED, OFFSET_PRUNED, OVERLOADED.
 */
export function pinAt(reads: Reads, at: Offset | null, request: WaitingRequest) {
  return reads.pinNow(at) ?? request.waiting(() => reads.pin(at, request.signal))
}

/** Pins as `pinAt` does, at the offset that the header names. */
export function pinFor(reads: Reads, request: ReadRequest): Pinned | Promise<Pinned> {
  return pinAt(reads, request.headers['x-read-at-offset'] ?? null, request)
}

/**
 * The offset to read at: the one that the request names, else the newest, but none below the floor.
 *
 * @throws {ScanError} INVALID_ARGUMENT if the offset is below the floor; OFFSET_NOT_REACHED, OFFSET_PRUNED.
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

export type FormRequest = WaitingRequest & {
  header(name: string): string | null
  readonly query: object
  readonly body?: object | null | undefined
}

/** Makes handlers that answer in the form that the caller accepts: certified (D-51), or as `read` does. */
export function inEitherForm(certified: CertifiedAnswers) {
  return <Request extends FormRequest, Answer>(
    stateQuery: (request: Request) => StateQuery<unknown>,
    read: (request: Request) => Promise<Answer>,
  ) =>
    (request: Request) => {
      if (!isCertified(request)) return read(request)
      // A POST has in its body what a GET has in its query.
      const { body } = request
      const asked = body == null ? request : withWaitOf(request, { query: body })
      return certified.prove(stateQuery(request), asked).then(({ document }) => document)
    }
}
