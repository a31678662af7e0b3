/** The reader behind `createScan`: genesis, addresses, proofs. Loaded with the first lookup. */
import {
  type AddressRecord,
  createFetchTransport,
  type Fork,
  fetchGenesis,
  parseNodeUrl,
  type Transport,
} from '@quorumscan/reader'
import {
  type CertifiedReader,
  type CertifiedReaderOptions,
  createCertifiedReader,
} from '@quorumscan/reader/certified'
import { createWebCrypto, type Genesis, toHex, utf8 } from '@quorumscan/verifier'
import type { checkGenesis } from '../checked-genesis.ts'
import { tracedFetch } from '../http/traced-fetch.ts'
import type { Clock } from '../platform/clock.ts'
import { TIMEOUT_MS } from '../platform/deadline.ts'
import { type Kept, keptValue } from '../platform/kept.ts'
import { requireEd25519 } from '../platform/platform-crypto.ts'
import { platformSha256 } from '../platform/platform-sha256.ts'
import { storeKey } from '../platform/store.ts'
import type { ReadsOptions } from './bounded.ts'

/** Which nodes are asked, and whom to believe. */
export type NetworkOptions = {
  /** URLs of one or more scan nodes. The others are learned from them; none of them has to be trusted. */
  readonly seeds: readonly string[]
  /**
   * The genesis document, or its hash (64 hex digits): whom to believe. Pin it in your program, as it
   * is the root of all trust. With a hash the document is fetched from the seeds, checked, and kept in the store.
   */
  readonly genesis: Genesis | string
  /**
   * Whether nodes may be at loopback and private addresses. Default: if all seeds are, as in a cluster
   * on one's own machine.
   */
  readonly allowPrivateAddresses?: boolean
  /** Enough members signed two states that contradict each other: more than f lie, or the log forked. */
  readonly onFork?: (fork: Fork) => void
}

export type ReaderParts = NetworkOptions &
  Pick<ReadsOptions, 'fetch' | 'traceparent' | 'crypto'> & {
    readonly kept: Kept
    readonly clock: Clock
    /** Of a document that is pinned. */
    readonly checkGenesis: typeof checkGenesis
    /** Ends the opening. */
    readonly signal: AbortSignal
    /** Of a scan proxy, which is the only seed; nobody else is asked. `isTrusted`: no signature is checked. */
    readonly proxy?: { readonly transport: Transport; readonly isTrusted: boolean }
  }

export type OpenedReader = {
  readonly reader: CertifiedReader
  /** What it was made with. */
  readonly options: CertifiedReaderOptions
}

/** @throws {QuorumscanError} CRYPTO_UNAVAILABLE, INVALID_ARGUMENT. @throws {GenesisError} No seed has it. */
export async function openReader(parts: ReaderParts): Promise<OpenedReader> {
  const { seeds, genesis: pinned, kept, clock, proxy, onFork, crypto = createWebCrypto() } = parts
  const isLocal = !seeds.some((seed) => parseNodeUrl(seed, false))
  const transport = proxy?.transport ?? createFetchTransport({ fetch: fetchOf(parts) })
  let genesisHash: string
  let genesis: Genesis
  if (typeof pinned === 'string') {
    genesisHash = pinned
    const known = keptValue<Genesis | null>(kept, storeKey(pinned, 'genesis'), { first: null })
    const stored = await known.load()
    const hash = toHex(await crypto.sha256(utf8(JSON.stringify(stored))))
    if (stored !== null && hash === pinned) genesis = stored
    else {
      genesis = await fetchGenesis({ ...parts, crypto, genesisHash, transport })
      void known.save(genesis)
    }
  } else {
    // What was pinned by its hash needs no check.
    ;({ genesis, genesisHash } = await parts.checkGenesis(pinned, crypto))
  }
  if (!proxy?.isTrusted) await requireEd25519(crypto, genesis)

  const keyOf = (what: string) => storeKey(genesisHash, what)
  const options = {
    genesis,
    genesisHash,
    seeds,
    transport,
    clock,
    crypto,
    sha256: platformSha256(),
    waitMs: TIMEOUT_MS,
    areSeedsAll: proxy !== undefined,
    allowPrivateAddresses: parts.allowPrivateAddresses ?? isLocal,
    // Other clients of the store may have seen more.
    floorStore: keptValue(kept, keyOf('floor'), { first: 0, merge: higherOf }),
    addressStore: keptValue<readonly AddressRecord[]>(kept, keyOf('addresses'), { first: [] }),
    ...(onFork && { onFork }),
  }
  return { reader: createCertifiedReader(options), options }
}

function fetchOf({ fetch, traceparent }: ReaderParts): typeof globalThis.fetch | undefined {
  const plain = fetch ?? globalThis.fetch
  return plain && tracedFetch(plain, traceparent) // Some platforms have none.
}

/** Of two floors; what is none counts for nothing, as something else may have been stored. */
function higherOf(...floors: readonly number[]): number {
  return Math.max(...floors.filter(Number.isSafeInteger))
}
