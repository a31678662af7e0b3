/** What all lookups of a client share: the reader, which the first of them opens, and the lowest offset to read at. */
import type { CertifiedReader, CertifiedReadOptions } from '@quorumscan/reader/certified'
import { QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { SharedStore } from '../platform/shared-values.ts'
import { storeKey } from '../platform/store-key.ts'
import type { Later } from '../scan-later.ts'
import { type Bounds, createBounded, type LookupSource, type SourceRead } from './bounded.ts'
import type { OpenedReader } from './open-reader.ts'
import type { ReadsOptions } from './reads-options.ts'
import { createStatedFloors } from './stated-floors.ts'
import type { Stored } from './write-floor.ts'
import { createWriterOffset, type Writer } from './writer.ts'

export type Reads = LookupSource &
  Bounds &
  Stored & {
    /** Code that `resolve` does not need. Only this and the reader are loaded late. */
    readonly later: Later
    /** null before the first read. */
    reader(): CertifiedReader | null
    /** As in `ScanStatus`. */
    unconfirmedOffset(): number | null
    /** Opens the reader. */
    genesisHash(): Promise<string>
    close(): Promise<void>
  }

export function createReads(options: {
  readonly client: ReadsOptions
  readonly clock: Clock
  readonly basis: LookupSource['basis']
  /** Prefix of stored values; null: the genesis hash of the reader. */
  readonly network: string | null
  /** Another client, whose writes are read too. */
  readonly writer?: Writer | undefined
  readonly stored: Stored
  open(shared: SharedStore, later: Later): Promise<OpenedReader>
  readonly later: Later
}): Reads {
  const { client, clock, network, writer, later, stored } = options
  const { extras } = later
  let opening: Promise<OpenedReader> | undefined
  let opened: OpenedReader | null = null

  const ownError = async (error: unknown): Promise<never> => {
    // An error of the SDK needs no conversion, whose code may fail to load for the same reason.
    throw error instanceof QuorumscanError ? error : (await extras()).ownError(error)
  }
  const open = async (): Promise<OpenedReader> => {
    try {
      opened = await options.open(shared, later)
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
  const genesisHash = async () => (await whenOpened()).options.genesisHash
  /** No outcome `pruned` reaches the caller, because `page` restarts such walks. Hence the type `never`. */
  const reading = async (
    options: SourceRead,
    read: (opened: OpenedReader, bound: CertifiedReadOptions) => Promise<unknown>,
  ): Promise<never> => {
    const { statedOffset = 0, ...bound } = options
    const floors = [statedOffset, ...(await writtenOffsets())]
    const opened = await whenOpened().catch(ownError)
    const ask = (at: CertifiedReadOptions) => read(opened, at).catch(ownError)
    return (await statedFloors.read({
      floors,
      bound,
      provenOffset: provenBy(opened),
      ask,
    })) as never
  }
  const { shared, writeFloor } = stored
  const statedFloors = createStatedFloors(clock, writeFloor.forget)
  const writerOffset = writer && createWriterOffset(writer, clock)
  const writtenOffsets = async () => {
    return [...(await writeFloor.offsets()), (await writerOffset?.()) ?? 0]
  }

  return {
    clock: correctedClock(clock, () => opened?.reader ?? null),
    shared,
    writeFloor,
    later,
    bounded: createBounded({ ...client, clock }),
    basis: options.basis,
    storeKey: async (what) => storeKey(network ?? (await genesisHash()), what),
    genesisHash,
    lookup: (lookups, read) => reading(read, ({ reader }, at) => reader.lookup(lookups, at)),
    read: (query, read) => reading(read, ({ reader }, at) => reader.read(query, at)),
    page: (page, read) =>
      reading(read, async (opened, at) => (await later.lists()).readEntriesPage(opened, page, at)),
    unconfirmedOffset: () =>
      statedFloors.unconfirmedOffset(opened === null ? 0 : provenBy(opened)()),
    reader: () => opened?.reader ?? null,
    async close() {
      await opening?.catch(() => {}) // It failed, or was aborted just now.
      await opened?.reader[Symbol.asyncDispose]()
    },
  }
}

/** The offset of the newest certificate that the reader has verified. */
function provenBy({ reader }: OpenedReader): () => number {
  return () => reader.status().floor
}

/** The clock of the device, except that it shows no time before the newest record time that the reader has proven. */
function correctedClock(clock: Clock, reader: () => CertifiedReader | null): Clock {
  return {
    nowMicros: () => reader()?.nowMicros() ?? clock.nowMicros(),
    monotonicMs: () => clock.monotonicMs(),
    delay: (ms, signal) => clock.delay(ms, signal),
  }
}
