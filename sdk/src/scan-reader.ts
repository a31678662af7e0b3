/**
 * The reader behind `createScan`: genesis, addresses, votes. A module of its own, loaded with the first
 * lookup, so that a page that shows no name yet has not loaded it.
 */
import {
  type AddressRecord,
  type CryptoPort,
  createFetchTransport,
  createReader,
  createReceipt,
  type Fork,
  fetchGenesis,
  type Genesis,
  GenesisError,
  hashGenesis,
  isDecided,
  ReaderError,
  type ReaderStatus,
} from '@quorumscan/consensus'
import { checkedGenesis } from './checked-genesis.ts'
import type { Clock } from './clock.ts'
import { type ErrorCode, QuorumscanError } from './errors.ts'
import type { LookupSource } from './lookups.ts'
import { requireEd25519 } from './platform-crypto.ts'
import { type Store, storeKey } from './store.ts'

export type ReaderParts = {
  readonly seeds: readonly string[]
  /** null: fetched from the seeds, by its hash. */
  readonly genesis: Genesis | null
  /** null: that of the genesis; one of both is given. */
  readonly genesisHash: string | null
  readonly store: Store
  readonly clock: Clock
  readonly crypto: CryptoPort
  readonly fetch: typeof globalThis.fetch | undefined
  readonly allowPrivateAddresses: boolean
  readonly onFork: ((fork: Fork) => void) | undefined
  /** Ends the opening. */
  readonly signal: AbortSignal
}

export type OpenedReader = Pick<LookupSource, 'lookup' | 'read' | 'receipt'> & {
  readonly genesisHash: string
  status(): ReaderStatus
  close(): Promise<void>
}

/** What `createScan` reads with. The SDK has one; its type is not for others to implement. */
export type ScanReader = (parts: ReaderParts) => Promise<OpenedReader>

/** @throws {QuorumscanError} WRONG_GENESIS, CRYPTO_UNAVAILABLE, INVALID_ARGUMENT. */
export const scanReader: ScanReader = (parts) => open(parts).catch(rethrow)

async function open(parts: ReaderParts): Promise<OpenedReader> {
  const { seeds, store, crypto, signal } = parts
  const transport = createFetchTransport(parts.fetch === undefined ? {} : { fetch: parts.fetch })
  const given = parts.genesis === null ? null : checkedGenesis(parts.genesis)
  const genesisHash = parts.genesisHash ?? (await hashGenesis(given as Genesis, crypto))
  const genesis = given ?? (await fetchGenesis({ genesisHash, seeds, transport, signal, crypto }))
  await requireEd25519(crypto, genesis)
  const floorKey = storeKey(genesisHash, 'floor')
  const addressKey = storeKey(genesisHash, 'addresses')
  const reader = createReader({
    genesis,
    genesisHash,
    seeds,
    transport,
    clock: parts.clock,
    crypto,
    allowPrivateAddresses: parts.allowPrivateAddresses,
    floorStore: {
      load: async () => Number((await store.get(floorKey)) ?? 0),
      save: async (offset) => store.set(floorKey, String(offset)),
    },
    addressStore: {
      load: async () => JSON.parse((await store.get(addressKey)) ?? '[]') as AddressRecord[],
      save: async (records) => store.set(addressKey, JSON.stringify(records)),
    },
    ...(parts.onFork === undefined ? {} : { onFork: parts.onFork }),
  })
  return {
    genesisHash,
    lookup: (lookups, read) => reader.lookup(lookups, read).catch(rethrow),
    read: (request, read) => reader.read(request, read).catch(rethrow),
    receipt: async (outcome, request) =>
      isDecided(outcome) && outcome.signatures.length >= outcome.threshold
        ? createReceipt({ outcome, request, genesisHash })
        : null,
    status: reader.status,
    close: () => Promise.resolve(reader[Symbol.asyncDispose]()),
  }
}

const READER_CODES: Record<ReaderError['code'], ErrorCode> = {
  INVALID_THRESHOLD: 'INVALID_QUORUM',
  INVALID_ARGUMENT: 'INVALID_ARGUMENT',
  OVERLOADED: 'OVERLOADED',
  CLOSED: 'CLOSED',
  NO_FLOOR: 'STORE_UNAVAILABLE',
}

/** The consensus package's errors as ours. */
function rethrow(error: unknown): never {
  if (error instanceof ReaderError)
    throw new QuorumscanError(`${error.message}.`, {
      code: READER_CODES[error.code],
      definite: true,
      retryable: error.code === 'OVERLOADED' || error.code === 'NO_FLOOR',
      cause: error,
    })
  if (error instanceof GenesisError)
    throw new QuorumscanError(
      `${error.message}. Are the seeds reachable, and is the hash that of their network?`,
      { code: 'WRONG_GENESIS', definite: true, retryable: true, cause: error },
    )
  throw error
}
