/** Lookups by a reader of certified answers, whoever it asks. The first of them opens it. */
import type { CertifiedEntry } from '@quorumscan/consensus/certified'
import type { CertifiedReader } from '@quorumscan/consensus/certified-reader'
import { storeKey } from '../platform/store.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import type { LookupSource, ReadOutcome } from './lookups.ts'
import type { OpenedReader } from './open-reader.ts'

export type ReaderSource = LookupSource & {
  /** @throws {QuorumscanError} Why it cannot be opened; the next call tries again. */
  whenOpened(): Promise<OpenedReader>
  /** null: nothing was read yet. */
  reader(): CertifiedReader | null
  closeReader(): Promise<void>
}

export function createReaderSource(options: {
  readonly verifiedBy: LookupSource['verifiedBy']
  /** What is remembered belongs to it; null: to the network of the reader, by its genesis hash. */
  readonly network: string | null
  open(): Promise<OpenedReader>
  readonly extras: LoadScanExtras
}): ReaderSource {
  const { verifiedBy, network, extras } = options
  let opening: Promise<OpenedReader> | undefined
  let opened: OpenedReader | null = null

  const ownError = async (error: unknown): Promise<never> => {
    throw (await extras()).ownError(error)
  }
  const open = async (): Promise<OpenedReader> => {
    try {
      opened = await options.open()
      return opened
    } catch (error) {
      opening = undefined
      return ownError(error)
    }
  }
  const whenOpened = (): Promise<OpenedReader> => {
    opening ??= open()
    return opening
  }

  return {
    verifiedBy,
    whenOpened,
    reader: () => opened?.reader ?? null,
    async closeReader() {
      await opening?.catch(() => {}) // It failed, or was ended just now.
      await opened?.reader[Symbol.asyncDispose]()
    },
    storeKey: async (what) => storeKey(network ?? (await whenOpened()).options.genesisHash, what),
    async lookup(lookups, read) {
      const { reader } = await whenOpened()
      return reader.lookup(lookups, read).catch(ownError) as Promise<
        ReadOutcome<CertifiedEntry | null>[] // Only a walk expires.
      >
    },
    async read(request, read) {
      const { reader } = await whenOpened()
      return reader.read(request, read).catch(ownError) as Promise<never> // Only a walk at one offset expires.
    },
    async page(page, read) {
      const { readEntriesPage } = await extras()
      return readEntriesPage(await whenOpened(), page, read).catch(ownError)
    },
  }
}
