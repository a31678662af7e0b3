/** What all lookups of a client share: the reader, which the first of them opens, and the bounds of each call. */
import type { CertifiedReader } from '@quorumscan/reader/certified'
import { QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { createKept, type Kept } from '../platform/kept.ts'
import { storeKey } from '../platform/store.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import { type Bounds, createBounded, type ReadsOptions } from './bounded.ts'
import type { LookupSource } from './lookups.ts'
import type { OpenedReader } from './open-reader.ts'
import type { Writer } from './writer.ts'
import { createWritten, type Written } from './written.ts'

export type Reads = LookupSource &
  Bounds & {
    readonly kept: Kept
    readonly written: Written
    /** What resolving a name does without. The reader and this are all that is loaded late. */
    readonly extras: LoadScanExtras
    /** null: nothing was read yet. */
    reader(): CertifiedReader | null
    close(): Promise<void>
  }

export function createReads(options: {
  readonly client: ReadsOptions
  readonly clock: Clock
  readonly verifiedBy: LookupSource['verifiedBy']
  /** What is remembered belongs to it; null: to the network of the reader, by its genesis hash. */
  readonly network: string | null
  /** Another client, whose writes are read too. */
  readonly writer?: Writer | undefined
  open(kept: Kept): Promise<OpenedReader>
  readonly extras: LoadScanExtras
}): Reads {
  const { client, clock, network, writer, extras } = options
  const kept = createKept(client.store, clock)
  let opening: Promise<OpenedReader> | undefined
  let opened: OpenedReader | null = null

  const ownError = async (error: unknown): Promise<never> => {
    // What is one of ours needs no words that would have to be loaded, and may be gone for the same reason.
    throw error instanceof QuorumscanError ? error : (await extras()).ownError(error)
  }
  const open = async (): Promise<OpenedReader> => {
    try {
      opened = await options.open(kept)
      return opened
    } catch (error) {
      opening = undefined // The next call tries again.
      return ownError(error)
    }
  }
  const whenOpened = (): Promise<OpenedReader> => {
    opening ??= open()
    return opening
  }
  const keyOf = async (what: string, of: string | null) =>
    storeKey(of ?? (await whenOpened()).options.genesisHash, what)
  /** Of the type that is asked for: only walks over entries expire, and their pages begin again. */
  const reading = async (read: (opened: OpenedReader) => Promise<unknown>): Promise<never> =>
    (await read(await whenOpened()).catch(ownError)) as never
  // Clients of a network share it, whatever they are verified by. That of a pinned one is known without a reader.
  const pin = options.verifiedBy === 'self' ? network : null
  const writtenKey = async () => (client.store === undefined ? 'written' : keyOf('written', pin))
  const written = createWritten(kept, writtenKey, clock)
  let writerOffset: (() => Promise<number>) | undefined
  const floor = async () => {
    if (writer) writerOffset ??= (await extras()).createWriterOffset(writer, clock)
    return Math.max(await written.offset(), (await writerOffset?.()) ?? 0)
  }

  return {
    clock,
    kept,
    written,
    extras,
    bounded: createBounded({ ...client, clock, floor }),
    verifiedBy: options.verifiedBy,
    storeKey: (what) => keyOf(what, network),
    lookup: (lookups, read) => reading(({ reader }) => reader.lookup(lookups, read)),
    read: (request, read) => reading(({ reader }) => reader.read(request, read)),
    page: (page, read) =>
      reading(async (opened) => (await extras()).readEntriesPage(opened, page, read)),
    reader: () => opened?.reader ?? null,
    async close() {
      await opening?.catch(() => {}) // It failed, or was ended just now.
      await opened?.reader[Symbol.asyncDispose]()
    },
  }
}
