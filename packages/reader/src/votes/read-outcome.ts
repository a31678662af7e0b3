/** The outcomes of a verified read (D-38), as one union, so that a caller cannot mistake one for another. */
import type { Threshold, TrustRule } from '@quorumscan/verifier'

/** Which nodes took part, in every outcome. `agreed` and `dissented` are among those that were asked. Node names are in genesis order. */
export type Participation = {
  /** Equal votes that were needed. */
  readonly threshold: number
  /** n of the genesis, or the number of members of the trust rule. */
  readonly nodeCount: number
  /** Only these members counted; null: all members. */
  readonly trust: TrustRule | null
  /** The nodes that were asked for their votes, of a read by votes. The others may agree or not. */
  readonly asked?: readonly string[]
  /** Nodes whose valid votes arrived in time. */
  readonly answered: number
  readonly agreed: readonly string[]
  readonly dissented: readonly string[]
  /**
   * How far the clock of this device lags the newest record time that f + 1 members have stated, in ms. More than 10 s
   * prove that the clock is wrong (Rule 6): ages were then judged by the proven time. null: not proven to be wrong.
   */
  readonly clockSkewMs: number | null
}

/** An answer that `threshold` nodes gave at one offset. */
export type Decided = Participation & {
  /** `…-absent`: no such entry exists. `trusted…`: one node that lies suffices (D-34): f = 0, or a trust rule of one. */
  readonly kind: 'verified' | 'verified-absent' | 'trusted' | 'trusted-absent'
  /** The exact bytes that the nodes agreed on. */
  readonly answer: Uint8Array<ArrayBuffer>
  readonly offset: number
  /** µs since the epoch. */
  readonly recordTime: number
  /** Lower-case hex. */
  readonly historyHash: string
}

/** Votes that are equal in offset, record time, history hash and answer. */
export type VoteGroup = {
  readonly nodes: readonly string[]
  readonly offset: number
  readonly recordTime: number
  readonly historyHash: string
  /** First 16 hex digits of the SHA-256 of the answer. */
  readonly answerDigest: string
  /** Known fields of the answer, cut to their legal lengths; null for absence and for other operations. */
  readonly entry: { readonly name: string; readonly user: string } | null
}

/** The answers of the nodes conflict. Waiting does not help. */
export type Disputed = Participation & {
  readonly kind: 'disputed'
  /** `votes`: no group can reach the threshold. `fork`: f+1 nodes, or the local replica, hold another history. */
  readonly reason: 'votes' | 'fork'
  /** Largest first. */
  readonly groups: readonly VoteGroup[]
}

/** More than n − threshold nodes cannot be used. */
export type Insufficient = Participation & {
  readonly kind: 'insufficient'
  readonly reachable: number
  readonly needed: number
  /**
   * When enough of the nodes that refuse because of their limits (429) accept lookups again, by their `retry-after`;
   * null if that would not suffice.
   */
  readonly retryAfterMs: number | null
}

/** The nodes have not reached the offset, or their state is too old. */
export type Lagging = Participation & {
  readonly kind: 'lagging'
  /**
   * `floor`: nodes have not reached the floor of the call, `minOffset` (D-39). `not-reached`: they have not reached an
   * offset that the reader chose itself: its pin, or its verified floor. `stale`: the record time of the answer is older
   * than `maxAgeMs`, or too few nodes confirmed that no newer one exists.
   */
  readonly reason: 'not-reached' | 'stale' | 'floor'
  /** The offset that was asked for, or the floor. */
  readonly wantedOffset: number
  /** The offset that `threshold` nodes claim to have; null if fewer claimed any. */
  readonly headOffset: number | null
  /** Age of the answer's record time by the reader's clock, if the reason is `stale`. */
  readonly ageMs: number | null
  readonly retryAfterMs: number
}

export type Outcome = Decided | Disputed | Insufficient | Lagging

export type ReadOptions = {
  /** Default `weak`. */
  readonly threshold?: Threshold | undefined
  /** Floor for this call (D-39). */
  readonly minOffset?: number | undefined
  /** Default 60 000; Infinity accepts any age. */
  readonly maxAgeMs?: number | undefined
  /**
   * Headers of the requests to the nodes, such as a request id. Reads that share a request send those of the first.
   * In a browser they cost a preflight.
   */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** Whether the outcome carries an answer. */
export function isDecided(outcome: Outcome): outcome is Decided {
  return 'answer' in outcome
}
