/** Opens the certified reader of a client: genesis, addresses, stored floor. Loaded with the first lookup. */
import {
  type AddressRecord,
  createFetchTransport,
  type Fork,
  fetchGenesis,
  parseNodeUrl,
  type Transport,
} from '@quorumscan/reader'
import { type CertifiedReaderOptions, createCertifiedReader } from '@quorumscan/reader/certified'
import { type Genesis, memberSetOf, type TrustList, toHex, utf8 } from '@quorumscan/verifier'
import type { checkGenesis } from '../checked-genesis.ts'
import type { createTracing } from '../http/traced-fetch.ts'
import type { Clock } from '../platform/clock.ts'
import { READ_TIMEOUT_MS } from '../platform/deadline.ts'
import type { createNodePort } from '../platform/node-port.ts'
import { assertEd25519, platformCrypto, platformSha256 } from '../platform/platform-crypto.ts'
import { type SharedStore, sharedValue } from '../platform/shared-values.ts'
import { storeKey } from '../platform/store-key.ts'
import type { checkTrust } from '../platform/trust.ts'
import type { ReadsOptions } from './reads-options.ts'

/** Which nodes to ask, and whose signatures to believe. */
export type NetworkOptions = {
  /** URLs of one or more scan nodes, from which the others are learned. None of them has to be trusted. */
  readonly seeds: readonly string[]
  /**
   * The genesis document, or its hash (64 hex digits). It has the keys of the members and is the root of all trust, so
   * pin it in your program. With a hash, the document is fetched from the seeds, verified and stored.
   */
  readonly genesis: Genesis | string
  /**
   * Trusts these members instead of all: an answer needs the signatures of `threshold` of them, by default a third of the
   * list, rounded down, plus one. Fewer of them may lie. Only their nodes are asked for names; seeds only for addresses and
   * the genesis document. Checked at the first lookup, which throws INVALID_ARGUMENT.
   *
   * @example { members: ['sv-1', 'sv-2', 'sv-3'], threshold: 2 }
   */
  readonly trust?: TrustList
  /**
   * Whether nodes may have loopback and private addresses. Default: true if all seeds have, such as in a local
   * cluster.
   */
  readonly allowPrivateAddresses?: boolean
  /** Called if two certificates for one offset conflict: more than f members lie, or the log forked. */
  readonly onFork?: (fork: Fork) => void
}

export type ReaderParts = NetworkOptions &
  Pick<ReadsOptions, 'fetch' | 'traceparent' | 'crypto'> & {
    readonly shared: SharedStore
    readonly clock: Clock
    /** Loads what only some clients need. */
    readonly extras: () => Promise<{
      readonly checkGenesis: typeof checkGenesis
      readonly checkTrust: typeof checkTrust
      readonly createNodePort: typeof createNodePort
      readonly createTracing: typeof createTracing
    }>
    /** Aborts the opening. */
    readonly signal: AbortSignal
    /** A scan proxy, to which all requests go. `isTrusted`: signatures are not verified. */
    readonly proxy?: { readonly transport: Transport; readonly isTrusted: boolean }
  }

/** A reader with the options that it was made with. */
export type OpenedReader = Awaited<ReturnType<typeof openReader>>

/** @throws {QuorumscanError} CRYPTO_UNAVAILABLE, INVALID_ARGUMENT. @throws {GenesisError} No seed has the document. */
export async function openReader(parts: ReaderParts) {
  const { seeds, genesis: pinned, shared, clock, proxy, onFork, trust, extras } = parts
  const crypto = parts.crypto ?? (await platformCrypto(extras))
  // Before anything is asked; its members are not known yet.
  if (trust) (await extras()).checkTrust(trust)
  const isLocal = !seeds.some((seed) => parseNodeUrl(seed, false))
  const { fetch, traceparent } = parts
  const tracing =
    traceparent === undefined
      ? null
      : (await extras()).createTracing(fetch ?? globalThis.fetch, traceparent)
  const transport = proxy?.transport ?? createFetchTransport({ fetch: tracing?.fetch ?? fetch })
  let genesisHash: string
  let genesis: Genesis
  if (typeof pinned === 'string') {
    genesisHash = pinned
    const known = sharedValue<Genesis | null>(shared, storeKey(pinned, 'genesis'), { first: null })
    const stored = await known.load().catch(() => null) // Then it is fetched.
    const hash = toHex(await crypto.sha256(utf8(JSON.stringify(stored))))
    if (stored !== null && hash === pinned) genesis = stored
    else {
      genesis = await fetchGenesis({ ...parts, crypto, genesisHash, transport })
      void known.save(genesis)
    }
  } else {
    ;({ genesis, genesisHash } = await (await extras()).checkGenesis(pinned, crypto))
  }
  if (!proxy?.isTrusted) await assertEd25519(crypto, genesis)

  const keyOf = (what: string) => storeKey(genesisHash, what)
  const options: CertifiedReaderOptions = {
    genesis,
    genesisHash,
    trust: trust ? (await extras()).checkTrust(trust, memberSetOf(genesis).members) : null,
    seeds,
    transport,
    clock,
    crypto,
    sha256: platformSha256(),
    waitMs: READ_TIMEOUT_MS,
    areSeedsAll: proxy !== undefined,
    allowPrivateAddresses: parts.allowPrivateAddresses ?? isLocal,
    // Other clients of the store may have seen a newer offset.
    floorStore: sharedValue(shared, keyOf('floor'), {
      first: 0,
      merge: higherOf,
      isValid: Number.isSafeInteger,
    }),
    addressStore: sharedValue<readonly AddressRecord[]>(shared, keyOf('addresses'), { first: [] }),
    ...(onFork && { onFork }),
  }
  const reader = createCertifiedReader(options)
  return { reader: tracing?.explaining(reader) ?? reader, options }
}

/** The higher floor. */
function higherOf(...floors: readonly number[]): number {
  return Math.max(...floors)
}
