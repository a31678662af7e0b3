/** The reader behind `createScan`: genesis, addresses, votes. */
import {
  type AddressRecord,
  type CryptoPort,
  createFetchTransport,
  type Fork,
  fetchGenesis,
  type Genesis,
  hashGenesis,
  type Reader,
  type ReaderOptions,
  type ReaderStatus,
} from '@quorumscan/consensus'
import type { Clock } from './clock.ts'
import type { LookupSource } from './lookups.ts'
import { requireEd25519 } from './platform-crypto.ts'
import type { LoadScanExtras } from './scan-extras.ts'
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
  readonly extras: LoadScanExtras
  readonly checkGenesis: ScanReader['checkGenesis']
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
  /** @throws {QuorumscanError} INVALID_ARGUMENT, with the member that is wrong. */
  checkGenesis(document: unknown): Promise<Genesis>
}

/** How `createScan` reads, with one reader or the other. */
export async function openReader(
  parts: ReaderParts,
  createReader: (options: Omit<ReaderOptions, 'localHistoryHash'>) => Reader,
): Promise<OpenedReader> {
  const ownError = async (error: unknown): Promise<never> => {
    throw (await parts.extras()).ownError(error)
  }
  const { genesisHash, reader } = await open(parts, createReader).catch(ownError)
  return {
    genesisHash,
    lookup: (lookups, read) => reader.lookup(lookups, read).catch(ownError),
    read: (request, read) => reader.read(request, read).catch(ownError),
    status: reader.status,
    close: () => Promise.resolve(reader[Symbol.asyncDispose]()),
  }
}

async function open(
  parts: ReaderParts,
  createReader: Parameters<typeof openReader>[1],
): Promise<{ genesisHash: string; reader: Reader }> {
  const { seeds, store, crypto, signal } = parts
  const transport = createFetchTransport(parts.fetch === undefined ? {} : { fetch: parts.fetch })
  const given = parts.genesis === null ? null : await parts.checkGenesis(parts.genesis)
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
  return { genesisHash, reader }
}
