/** Lookups straight from the scan nodes: this program is the verifier, and no proxy is trusted. */
import {
  type CryptoPort,
  type Fork,
  type Genesis,
  parseNodeUrl,
  type ReaderStatus,
  type Threshold,
} from '@quorumscan/consensus'
import type { Activities } from './activities.ts'
import { type Clock, systemClock } from './clock.ts'
import { TIMEOUT_MS } from './deadline.ts'
import { invalidArgument, QuorumscanError } from './errors.ts'
import type { LookupSource, NameChange } from './lookups.ts'
import { createNames, type Names } from './names.ts'
import type { OpenedReader, ScanReader } from './open-reader.ts'
import { platformCrypto } from './platform-crypto.ts'
import { createMemoryStore, type Store, storeKey } from './store.ts'

export type ScanOptions = {
  /** URLs of one or more scan nodes. The others are learned from them; none of them has to be trusted. */
  readonly seeds: readonly string[]
  /**
   * The genesis document, or its hash (64 hex digits): whom to believe. Pin it in your program, as it
   * is the root of all trust. With a hash the document is fetched from the seeds and checked.
   */
  readonly genesis: Genesis | string
  /** Default for every lookup; `weak` (f+1 equal votes) unless given. */
  readonly threshold?: Threshold
  /** Default for every lookup: how old an answer may be by record time, in ms. 60 000 unless given. */
  readonly maxAgeMs?: number
  /** For a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Keeps the floor, addresses and last seen parties over restarts. Default: in memory. */
  readonly store?: Store
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
  /** SHA-256 and Ed25519. Default: WebCrypto; without either nothing is read. */
  readonly crypto?: CryptoPort
  /**
   * Whether nodes may be at loopback and private addresses. Default: if all seeds are, as in a cluster
   * on one's own machine.
   */
  readonly allowPrivateAddresses?: boolean
  /**
   * That of `@quorumscan/sdk/reader`, where `import()` is not to be had, as in the service worker of an
   * extension. Default: loaded with the first lookup.
   */
  readonly reader?: ScanReader
  /** A name belongs to somebody else than when it was last accepted. */
  readonly onChanged?: (change: NameChange) => void
  /** Nodes hold different histories of the ledger: at least one of them lies, or the log forked. */
  readonly onFork?: (fork: Fork) => void
}

export interface Scan extends AsyncDisposable {
  readonly names: Names
  /** Coin activities in order of the ledger, each page verified. */
  readonly activities: Activities
  /** Counters of each node; null before the first read. */
  status(): ReaderStatus | null
  /** Ends what is in flight; later calls throw CLOSED. */
  close(): Promise<void>
}

const lazyReader: ScanReader = {
  open: async (parts) => (await import('./lean-scan-reader.ts')).open(parts),
  extras: async () => (await import('./scan-extras.ts')).scanExtras,
  // What was pinned by its hash needs no check.
  checkGenesis: async (document) => (await import('./checked-genesis.ts')).checkedGenesis(document),
}

const HASH = /^[0-9a-f]{64}$/

/**
 * A verified reader of the name service. Nothing is sent before the first lookup.
 *
 * A genesis document is checked by the first lookup, which throws INVALID_ARGUMENT if it is none.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT if seeds or the hash make no sense, CRYPTO_UNAVAILABLE.
 */
export function createScan(options: ScanOptions): Scan {
  const { clock = systemClock, store = createMemoryStore(), timeoutMs = TIMEOUT_MS } = options
  const crypto = options.crypto ?? platformCrypto()
  const how = options.reader ?? lazyReader
  const { extras } = how
  const source = createScanSource(options, { ...how, clock, store, crypto })
  return {
    names: createNames({
      source,
      clock,
      store,
      timeoutMs,
      defaults: options,
      onChanged: options.onChanged,
      extras,
    }),
    async *activities(more) {
      const { createActivities } = await extras()
      yield* createActivities({ source, clock, timeoutMs, defaults: options })(more)
    },
    status: source.status,
    close: source.close,
    [Symbol.asyncDispose]: source.close,
  }
}

function createScanSource(
  options: ScanOptions,
  parts: ScanReader & { readonly clock: Clock; readonly store: Store; readonly crypto: CryptoPort },
): LookupSource & { status(): ReaderStatus | null; close(): Promise<void> } {
  const { seeds, genesis: pinned } = options
  const { store, crypto } = parts
  if (seeds.length === 0 || !seeds.every((seed) => parseNodeUrl(seed, true) !== undefined))
    throw invalidArgument('seeds are one or more http or https URLs of scan nodes.')
  if (typeof pinned === 'string' && !HASH.test(pinned))
    throw invalidArgument('A genesis hash has 64 lower-case hex digits.')
  const document = typeof pinned === 'string' ? null : pinned
  const isLocal = seeds.every((seed) => parseNodeUrl(seed, false) === undefined)
  const closing = new AbortController()
  let opening: Promise<OpenedReader> | undefined
  let reader: OpenedReader | null = null

  const open = async (): Promise<OpenedReader> => {
    const { signal } = closing
    signal.throwIfAborted()
    reader = await parts.open({
      seeds,
      genesis: document,
      genesisHash: typeof pinned === 'string' ? pinned : null,
      store,
      clock: parts.clock,
      crypto,
      fetch: options.fetch,
      allowPrivateAddresses: options.allowPrivateAddresses ?? isLocal,
      onFork: options.onFork,
      extras: parts.extras,
      checkGenesis: parts.checkGenesis,
      signal,
    })
    return reader
  }

  const opened = (): Promise<OpenedReader> => {
    if (closing.signal.aborted) return Promise.reject(closed())
    opening ??= open().catch((error: unknown) => {
      opening = undefined // The next call tries again.
      throw error
    })
    return opening
  }

  return {
    verifiedBy: 'self',
    storeKey: async (what) =>
      storeKey(typeof pinned === 'string' ? pinned : (await opened()).genesisHash, what),
    lookup: async (lookups, read) => (await opened()).lookup(lookups, read),
    read: async (request, read) => (await opened()).read(request, read),
    receipt: async (outcome, request) => {
      const { genesisHash } = await opened()
      return (await parts.extras()).receiptOf(outcome, { request, genesisHash })
    },
    status: () => reader?.status() ?? null,
    async close() {
      closing.abort(closed())
      await opening?.catch(() => {}) // It failed, or was ended just now.
      await reader?.close()
    },
  }
}

function closed(): QuorumscanError {
  return new QuorumscanError('The client is closed.', {
    code: 'CLOSED',
    definite: true,
    retryable: false,
  })
}
