/** The options of a reader, and what it reports about nodes. */

import type { CanonicalRequest, CryptoPort, Genesis, TrustRule } from '@quorumscan/verifier'
import type { AddressRecord } from './source/address-book.ts'
import type { Transport } from './source/transport.ts'
import type { Fork } from './votes/histories.ts'

/** The part of a clock that reading needs; `Clock` of `packages/base` is one. */
export interface ReaderClock {
  /** µs since the epoch; only freshness looks at it. It may be wrong, and may jump. */
  nowMicros(): number
  monotonicMs(): number
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

type ValueStore<T> = {
  load(): Promise<T>
  save(value: T): void | Promise<void>
}

/** Stores the floor across restarts (D-39). */
export type FloorStore = ValueStore<number>

/** Stores the last known addresses across restarts, so that reads do not need the seeds. */
export type AddressStore = ValueStore<readonly AddressRecord[]>

export type ReaderOptions = {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** Only these members count and are asked (D-75). Default: all. */
  readonly trust?: TrustRule | null
  /** URLs of one or more nodes, from which the reader learns the addresses of all (D-34). */
  readonly seeds: readonly string[]
  readonly transport: Transport
  readonly clock: ReaderClock
  /** Default: WebCrypto. */
  readonly crypto?: CryptoPort
  /** The history hash of the local replica at an offset, to detect forks; null: it has none. */
  readonly localHistoryHash?: (offset: number) => Promise<string | null>
  readonly floorStore?: FloorStore
  readonly addressStore?: AddressStore
  /** Whether address records may name loopback and private hosts. Seeds may always. Default false. */
  readonly allowPrivateAddresses?: boolean
  /** Called once for each address that is not asked, because it is private or resolves to a private address. */
  readonly onPrivateAddress?: (refused: { readonly name: string; readonly url: string }) => void
  /**
   * Calls a function after all calls of the same moment have arrived, so that their lookups share requests.
   * Default: a microtask. A server passes `setImmediate`, which runs after all sockets have been read.
   */
  readonly defer?: (run: () => void) => void
  /**
   * From 0 to below 1, for the order in which nodes are asked. A node that could predict it could choose when to lie.
   * Default: the random numbers of the platform's cryptography.
   */
  readonly random?: () => number
  /** How long a read may wait for nodes. Default 2000 (D-38). */
  readonly waitMs?: number
  /** Called once per offset at which two histories were seen, also after an answer was returned. */
  readonly onFork?: (fork: Fork) => void
  /** Called with the result of every request to a node, for metrics. */
  readonly onReply?: (reply: NodeReply) => void
}

/** How one request to a node ended (D-35), and how long that took. */
export type NodeReply = {
  readonly node: string
  readonly kind: 'answer' | 'lagging' | 'failed'
  readonly durationMs: number
}

/** An operation other than a lookup, as a request to a node. */
export type ReadRequest = {
  /** The canonical operation (D-41). */
  readonly operation: string
  readonly parameters: CanonicalRequest['parameters']
  readonly method: 'GET' | 'POST'
  /** Path and query below the node's base address. */
  readonly path: string
  readonly body: Uint8Array<ArrayBuffer> | null
  /**
   * `reader` (default): read at the reader's pin. `request`: the request names its offset itself (a page
   * token). Then neither floor nor freshness applies (D-39), and votes must still agree on one offset.
   */
  readonly pin?: 'reader' | 'request'
  /** The largest answer. A node that sends more has failed. */
  readonly bytesMax: number
  /** Schema check of the operation's 200 body, run on the body that enough nodes sent. Default: any JSON object. */
  readonly isValid?: (body: unknown) => boolean
}

/** Counters of one node since the reader was created. */
export type NodeStatus = {
  readonly name: string
  readonly url: string | null
  readonly sequence: number | null
  /** `unknown`: never answered. `silent`: has not answered a request for a second. `failing`: unreachable, or its requests time out. */
  readonly state: 'unknown' | 'live' | 'silent' | 'failing'
  readonly head: number | null
  readonly requests: number
  readonly errors: number
  readonly lastError: string | null
  readonly votes: number
  readonly dissents: number
  /** Moving average of lookups, or of larger answers before the first, and latest, ms; null before any. */
  readonly latencyMs: number | null
  readonly latencyMsLast: number | null
}

/** What is proven of the clock of this device. */
export type ClockStatus = {
  /**
   * How far the clock lags the newest record time that f + 1 members have stated, in ms. More than 10 s prove that the
   * clock is wrong (Rule 6). null: not proven to be wrong.
   */
  readonly skewMs: number | null
}

export type ReaderStatus = {
  /** n, or the number of members of the trust rule. */
  readonly nodeCount: number
  /** How many of them may lie: f, or one less than the threshold of the trust rule. */
  readonly faultyMax: number
  /** Highest verified pin. */
  readonly floor: number
  readonly waiting: number
  readonly clock: ClockStatus
  readonly nodes: readonly NodeStatus[]
  /** Newest last, at most 16. */
  readonly forks: readonly Fork[]
}

export type ReaderErrorCode =
  | 'INVALID_THRESHOLD'
  | 'INVALID_ARGUMENT'
  | 'OVERLOADED'
  | 'CLOSED'
  | 'NO_FLOOR'

/** A read that was not attempted. What nodes answer, or fail to answer, is an `Outcome` and never an error. */
export class ReaderError extends Error {
  override readonly name = 'ReaderError'
  readonly code: ReaderErrorCode

  constructor(code: ReaderErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
