/** What a caller of the scan proxy may ask of a read: way and threshold, floor, and age (D-36, D-39, D-51). */
import { accepts, CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import type { WaitingRequest } from '@quorumscan/server'
import { memberSetOf, parseThreshold, type Threshold, thresholdVotes } from '@quorumscan/verifier'
import type { ProxyNetwork } from './operations.ts'

/** The parts of a request that every operation has. */
export type ProxyRequest = WaitingRequest & {
  /** As of `ApiRequest`. */
  waitingForNodes<T>(wait: () => Promise<T>): Promise<T>
  /** The URL as the caller sent it, with the mount point and the query. */
  readonly url: string
  readonly body?: unknown
  readonly query: { readonly quorum?: string }
  readonly headers: {
    readonly accept?: string
    readonly 'x-quorum'?: string
    readonly 'x-min-offset'?: number
    readonly 'x-max-age-ms'?: number
  }
  /** Its id and trace, which are forwarded to the nodes. */
  readonly forward: Readonly<Record<string, string>>
}

/** The default of `maxAge`, the same as for voted reads (D-39). */
export const MAX_AGE_MS = 60_000

/** Values of `x-quorum` that ask for a certified answer, as the threshold of signers that each stands for. */
const CERTIFIED_THRESHOLDS: Readonly<Record<string, string>> = {
  certified: 'weak',
  'certified-strong': 'strong',
}

/** D-36: the header wins. */
export function thresholdTextOf({ headers, query }: ProxyRequest): string {
  return headers['x-quorum'] ?? query.quorum ?? 'weak'
}

/** The signers that a certified answer needs; null: the caller asks for a voted answer. */
export function signersOf(request: ProxyRequest): string | null {
  const threshold = thresholdTextOf(request)
  if (Object.hasOwn(CERTIFIED_THRESHOLDS, threshold)) return CERTIFIED_THRESHOLDS[threshold] ?? null
  return wantsDocument(request) ? threshold : null
}

/** Whether the answer is asked for as the document that proves it. */
export function wantsDocument({ headers }: ProxyRequest): boolean {
  return accepts(headers.accept, CERTIFIED_MEDIA_TYPE)
}

/** A document shows its age to its reader, so its age has no default bound. */
export function maxAgeOf(request: ProxyRequest): number {
  const ageMsMax = wantsDocument(request) ? Number.POSITIVE_INFINITY : MAX_AGE_MS
  return request.headers['x-max-age-ms'] ?? ageMsMax
}

/** The least offset that the caller takes. A POST may have it in its body as well. */
export function minOffsetOf({ headers, body }: ProxyRequest): number {
  const ofBody = (body as { readonly min_offset?: number | null } | undefined)?.min_offset ?? 0
  return Math.max(headers['x-min-offset'] ?? 0, ofBody)
}

/** @throws {ScanError} INVALID_QUORUM if D-36 does not define the threshold. */
export function thresholdOf(
  quorum: string,
  { genesis, trustRule }: Pick<ProxyNetwork, 'genesis' | 'trustRule'>,
): Threshold {
  const set = memberSetOf(genesis)
  const threshold = parseThreshold(quorum, set, trustRule)
  if (threshold !== undefined) return threshold
  const votesOf = (one: Threshold) => thresholdVotes(one, set, trustRule)
  const [min, max] = [votesOf('weak'), votesOf('all')]
  throw new ScanError(
    'INVALID_QUORUM',
    `The threshold is weak, strong, all or a number from ${min} to ${max}.`,
    { details: { quorum, min, max } },
  )
}
