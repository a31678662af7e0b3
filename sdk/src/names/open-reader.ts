/** The reader behind `createScan`: genesis, addresses, votes. */
import {
  type AddressRecord,
  type CryptoPort,
  createFetchTransport,
  createWebCrypto,
  type Fork,
  fetchGenesis,
  type Genesis,
  parseNodeUrl,
  type Reader,
  type ReaderOptions,
  type ReaderStatus,
} from '@quorumscan/consensus'
import type { Clock } from '../platform/clock.ts'
import { TIMEOUT_MS } from '../platform/deadline.ts'
import { requireEd25519 } from '../platform/platform-crypto.ts'
import { type Store, storedValue, storeKey } from '../platform/store.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import type { LookupSource } from './lookups.ts'

/** Which nodes are asked, and whom to believe. */
export type NetworkOptions = {
  /** URLs of one or more scan nodes. The others are learned from them; none of them has to be trusted. */
  readonly seeds: readonly string[]
  /**
   * The genesis document, or its hash (64 hex digits): whom to believe. Pin it in your program, as it
   * is the root of all trust. With a hash the document is fetched from the seeds and checked.
   */
  readonly genesis: Genesis | string
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** SHA-256 and Ed25519. Default: WebCrypto; without either nothing is read. */
  readonly crypto?: CryptoPort
  /**
   * Whether nodes may be at loopback and private addresses. Default: if all seeds are, as in a cluster
   * on one's own machine.
   */
  readonly allowPrivateAddresses?: boolean
  /** Nodes hold different histories of the ledger: at least one of them lies, or the log forked. */
  readonly onFork?: (fork: Fork) => void
}

export type ReaderParts = NetworkOptions & {
  readonly store: Store
  readonly clock: Clock
  /** Ends the opening. */
  readonly signal: AbortSignal
}

export type OpenedReader = Pick<LookupSource, 'lookup' | 'read'> & {
  readonly genesisHash: string
  status(): ReaderStatus
  close(): Promise<void>
}

/** What `createScan` reads with. The SDK has one; its type is not for others to implement. */
export type ScanReader = {
  /** @throws {QuorumscanError} WRONG_GENESIS, CRYPTO_UNAVAILABLE, INVALID_ARGUMENT. */
  open(parts: ReaderParts): Promise<OpenedReader>
  readonly extras: LoadScanExtras
}

type How = {
  readonly createReader: (options: Omit<ReaderOptions, 'localHistoryHash'>) => Reader
  readonly extras: LoadScanExtras
  /** Checks a document, and resolves with its hash. @throws {QuorumscanError} INVALID_ARGUMENT. */
  readonly checkGenesis: (document: Genesis, crypto: CryptoPort) => Promise<string>
}

/** The one reader or the other, made into one that `createScan` takes. */
export function scanReaderOf(how: How): ScanReader {
  const { extras } = how
  const ownError = async (error: unknown): Promise<never> => {
    throw (await extras()).ownError(error)
  }
  return {
    extras,
    async open(parts) {
      const { genesisHash, reader } = await open(parts, how).catch(ownError)
      return {
        genesisHash,
        lookup: (lookups, read) => reader.lookup(lookups, read).catch(ownError),
        read: (request, read) => reader.read(request, read).catch(ownError),
        status: reader.status,
        close: () => Promise.resolve(reader[Symbol.asyncDispose]()),
      }
    },
  }
}

async function open(
  parts: ReaderParts,
  { createReader, checkGenesis }: How,
): Promise<{ genesisHash: string; reader: Reader }> {
  const { seeds, genesis: pinned, store, clock, onFork, crypto = createWebCrypto() } = parts
  const isLocal = !seeds.some((seed) => parseNodeUrl(seed, false))
  const transport = createFetchTransport(parts)
  let genesisHash: string
  let genesis: Genesis
  if (typeof pinned === 'string') {
    genesisHash = pinned
    genesis = await fetchGenesis({ ...parts, crypto, genesisHash, transport })
  } else {
    genesis = pinned
    genesisHash = await checkGenesis(pinned, crypto)
  }
  await requireEd25519(crypto, genesis)

  const keyOf = (what: string) => () => storeKey(genesisHash, what)
  const reader = createReader({
    genesis,
    genesisHash,
    seeds,
    transport,
    clock,
    crypto,
    waitMs: TIMEOUT_MS,
    allowPrivateAddresses: parts.allowPrivateAddresses ?? isLocal,
    floorStore: storedValue(store, keyOf('floor'), 0),
    addressStore: storedValue<readonly AddressRecord[]>(store, keyOf('addresses'), []),
    ...(onFork && { onFork }),
  })
  return { genesisHash, reader }
}
