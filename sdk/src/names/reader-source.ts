/** Lookups by a reader of certified answers, whoever it asks. The first of them opens it. */
import type { CertifiedReader } from '@quorumscan/reader/certified'
import { QuorumscanError } from '../errors.ts'
import { storeKey } from '../platform/store.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import type { LookupSource } from './lookups.ts'
import type { OpenedReader } from './open-reader.ts'

export type ReaderSource = LookupSource & {
  /** @throws {QuorumscanError} Why it cannot be opened; the next call tries again. */
  whenOpened(): Promise<OpenedReader>
  /** Where it is kept what clients of the network wrote, whatever they are verified by. */
  writtenKey(): Promise<string>
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
    // What is one of ours needs no words that would have to be loaded, and may be gone for the same reason.
    throw error instanceof QuorumscanError ? error : (await extras()).ownError(error)
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

  /** Of the type that is asked for: only walks over entries expire, and their pages begin anew. */
  const reading = async (read: (opened: OpenedReader) => Promise<unknown>): Promise<never> =>
    (await read(await whenOpened()).catch(ownError)) as never

  return {
    verifiedBy,
    whenOpened,
    writtenKey: async () => storeKey((await whenOpened()).options.genesisHash, 'written'),
    reader: () => opened?.reader ?? null,
    async closeReader() {
      await opening?.catch(() => {}) // It failed, or was ended just now.
      await opened?.reader[Symbol.asyncDispose]()
    },
    storeKey: async (what) => storeKey(network ?? (await whenOpened()).options.genesisHash, what),
    lookup: (lookups, read) => reading(({ reader }) => reader.lookup(lookups, read)),
    read: (request, read) => reading(({ reader }) => reader.read(request, read)),
    page: (page, read) =>
      reading(async (opened) => (await extras()).readEntriesPage(opened, page, read)),
  }
}
