/** From what a scan proxy says to the outcome of a read (D-38, D-40), checked by the receipt where there is a genesis. */
import {
  type CanonicalRequest,
  maxFaulty,
  parseInstant,
  parseReceipt,
  type ReadOptions,
  ReceiptError,
  thresholdVotes,
  type VoteGroup,
  verifyReceipt,
} from '@quorumscan/consensus'
import { invalidArgument, QuorumscanError } from '../errors.ts'
import { parseJson, retryAfter } from '../http/http-failures.ts'
import type { HttpReply } from '../http/request.ts'
import type { Clock } from '../platform/clock.ts'
import type { Answered, ReadOutcome } from './lookups.ts'
import type { Trust } from './proxy-reader.ts'

const MAX_AGE_MS = 60_000 // D-39.
const RETRY_AFTER_MS = 250

/** D-42. */
export type Verified = {
  readonly status: number
  readonly answer: unknown
  readonly receipt: unknown
}

/** What the proxy says beside the body (D-40). */
export type Facts = Pick<HttpReply, 'header'>

/** What the receipt proves, and nothing that the proxy says beside it. */
export async function receiptOutcome(
  options: Trust & { readonly clock: Clock },
  asked: {
    readonly body: Verified
    readonly request: CanonicalRequest
    readonly read: ReadOptions
  },
  reply: Facts,
): Promise<ReadOutcome> {
  const { genesis, clock, crypto } = options
  const { body, request, read } = asked
  const nodeCount = genesis.nodes.length
  const threshold = thresholdVotes(read.threshold ?? 'weak', nodeCount)
  if (threshold === undefined)
    throw invalidArgument(
      `The threshold is not within ${maxFaulty(nodeCount) + 1} to ${nodeCount}.`,
    )
  const receipt = await verifyReceipt(body.receipt, {
    genesis,
    request,
    threshold,
    crypto,
  }).catch((cause: unknown) => {
    if (!(cause instanceof ReceiptError)) throw cause
    throw new QuorumscanError(
      `The scan proxy gave an answer that it cannot prove: ${cause.message}. Do not use it.`,
      { code: 'INVALID_RECEIPT', definite: true, retryable: false, cause },
    )
  })
  const part = {
    threshold,
    nodeCount,
    answered: receipt.signers.length,
    agreed: receipt.signers,
    dissented: [],
  }
  const ageMs = (clock.nowMicros() - receipt.recordTime) / 1000
  const wantedOffset = read.minOffset ?? 0
  const isStale = ageMs > (read.maxAgeMs ?? MAX_AGE_MS)
  if (isStale || receipt.offset < wantedOffset)
    return {
      kind: 'lagging',
      reason: isStale ? 'stale' : 'floor',
      wantedOffset,
      headOffset: receipt.offset,
      ageMs: isStale ? Math.ceil(ageMs) : null,
      retryAfterMs: RETRY_AFTER_MS,
      ...part,
    }
  const answer: unknown = JSON.parse(new TextDecoder().decode(receipt.answer))
  return {
    kind: kindOf(answer, maxFaulty(nodeCount) === 0),
    answer,
    offset: receipt.offset,
    recordTime: receipt.recordTime,
    receipt: null,
    ...part,
    dissented: names(reply, 'x-quorum-dissented'),
  }
}

/** The proxy's word, with the receipt that it gave for others to check. */
export function proxyOutcome(body: Verified, reply: Facts): Answered<unknown> {
  const receipt = parseReceipt(body.receipt)
  return {
    ...plainOutcome(body.answer, reply),
    offset: receipt.offset,
    recordTime: receipt.record_time,
    receipt: null,
  }
}

function plainOutcome(answer: unknown, reply: Facts): Answered<unknown> {
  return {
    kind: kindOf(answer, reply.header('x-quorum-outcome')?.startsWith('trusted') === true),
    answer,
    offset: Number(reply.header('x-quorum-offset') ?? 0),
    recordTime: parseInstant(reply.header('x-quorum-record-time') ?? '') ?? 0,
    receipt: null,
    ...participation(reply),
  }
}

function kindOf(answer: unknown, isTrusted: boolean): Answered<unknown>['kind'] {
  const isAbsent = Object(answer).entry === null
  if (isTrusted) return isAbsent ? 'trusted-absent' : 'trusted'
  return isAbsent ? 'verified-absent' : 'verified'
}

/** D-38, back from the error body; null: the proxy decided. */
export function undecidedOutcome(reply: HttpReply): Exclude<ReadOutcome, Answered<unknown>> | null {
  const kind = reply.header('x-quorum-outcome')
  if (reply.status < 500) {
    // Without it nobody says that nodes agreed: that is another server, or a cache.
    if (kind === null) throw unreadable()
    return null
  }
  const details = Object(Object(parseJson(reply.text)).details) as Record<string, unknown>
  const part = participation(reply)
  const count = (name: string) => (typeof details[name] === 'number' ? details[name] : null)
  switch (kind) {
    case 'disputed':
      return {
        kind,
        reason: details['reason'] === 'fork' ? 'fork' : 'votes',
        groups: Array.isArray(details['groups']) ? details['groups'].map(toGroup) : [],
        ...part,
      }
    case 'insufficient':
      return {
        kind,
        reachable: count('reachable') ?? 0,
        needed: count('needed') ?? part.threshold,
        retryAfterMs: retryAfter(reply.header('retry-after')),
        ...part,
      }
    case 'lagging': {
      const { reason } = details
      return {
        kind,
        reason: reason === 'stale' || reason === 'floor' ? reason : 'not-reached',
        wantedOffset: count('wanted_offset') ?? 0,
        headOffset: count('head_offset'),
        ageMs: count('age_ms'),
        retryAfterMs: retryAfter(reply.header('retry-after')) ?? RETRY_AFTER_MS,
        ...part,
      }
    }
    default:
      throw unreadable()
  }
}

function toGroup(value: unknown): VoteGroup {
  const group = Object(value) as Record<string, unknown>
  return {
    nodes: Array.isArray(group['nodes']) ? group['nodes'].map(String) : [],
    offset: Number(group['offset']),
    recordTime: parseInstant(String(group['record_time'])) ?? 0,
    historyHash: String(group['history_hash']),
    answerDigest: String(group['answer_digest']),
    entry: (group['entry'] ?? null) as VoteGroup['entry'], // For showing; the proxy cut it to size.
  }
}

function participation(reply: Facts) {
  const [answered, nodeCount] = (reply.header('x-quorum-nodes') ?? '0/0').split('/').map(Number)
  return {
    threshold: Number(reply.header('x-quorum-threshold') ?? 0),
    nodeCount: nodeCount ?? 0,
    answered: answered ?? 0,
    agreed: names(reply, 'x-quorum-agreed'),
    dissented: names(reply, 'x-quorum-dissented'),
  }
}

function names(reply: Facts, header: string): readonly string[] {
  return (reply.header(header) ?? '').split(',').filter((name) => name !== '')
}

export function unreadable(): QuorumscanError {
  return new QuorumscanError(
    'What answered is no scan proxy that this version of the SDK understands. Check the address.',
    { code: 'INVALID_RESPONSE', definite: true, retryable: false },
  )
}
