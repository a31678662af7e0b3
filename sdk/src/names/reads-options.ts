/** Options of all clients that read, and their checks. */
import type { CryptoPort, Threshold } from '@quorumscan/verifier'
import type { QuorumscanError } from '../errors.ts'
import type { Traceparent } from '../http/traced-fetch.ts'
import type { Clock } from '../platform/clock.ts'
import {
  anything,
  isClock,
  isFunction,
  isMs,
  isPort,
  isThreshold,
  isWhole,
} from '../platform/options.ts'
import type { Store } from '../platform/store.ts'
import type { NameChange } from './lookup-types.ts'

/** Options of every client that reads. */
export type ReadsOptions = {
  /** Default for every lookup; `weak` (f+1 signers) unless given. */
  readonly threshold?: Threshold
  /** Default for every lookup: the greatest age of an answer by record time, in ms. 60 000 unless given. */
  readonly maxAgeMs?: number
  /** Timeout of a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Stores the verified floor, node addresses and last seen parties across restarts. Default: in memory. */
  readonly store?: Store
  /**
   * Called when the store cannot be read or written, or has a damaged value; once until it can be used again. With it, calls
   * continue with what this client has in memory, and a change of owner since the last run may remain undetected: tell the
   * user. Without it, the calls that need the store throw STORE_UNAVAILABLE.
   */
  readonly onStoreFailure?: (error: QuorumscanError) => void
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** The trace of requests. It is read when a request is sent, which several lookups may share. */
  readonly traceparent?: Traceparent
  /** For timeouts, pauses and freshness. Default: the platform's. */
  readonly clock?: Clock
  /** SHA-256 and Ed25519. Default: WebCrypto. Without either, reads fail. */
  readonly crypto?: CryptoPort
  /**
   * How many names this client remembers with their parties. No name is forgotten, so a lookup of one more name throws
   * SEEN_NAMES_FULL. Default 10 000; with 0 no name is remembered, and no change of owner is detected.
   */
  readonly seenNamesMax?: number
  /** Called if a name has another owner than when it was last accepted, once for each name and party. */
  readonly onChanged?: (change: NameChange) => void
}

/** The checks of `ReadsOptions`. */
export const READS_CHECKS = {
  threshold: isThreshold,
  maxAgeMs: isMs,
  timeoutMs: isMs,
  store: isPort('get', 'set'),
  fetch: isFunction,
  traceparent: anything,
  clock: isClock,
  crypto: isPort('sha256', 'verifyEd25519'),
  seenNamesMax: isWhole(0),
  onChanged: isFunction,
  onStoreFailure: isFunction,
} as const
