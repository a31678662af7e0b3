/** What all lookups of a client share: the reader, which the first of them opens, and the lowest offset to read at. */
import type { CertifiedReader, CertifiedReadOptions } from '@quorumscan/reader/certified'
import { QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { createSharedStore, type SharedStore, sharedValue } from '../platform/shared-store.ts'
import { storeKey } from '../platform/store.ts'
import type * as scanExtras from '../scan-extras.ts'
import {
  type Bounds,
  createBounded,
  type LookupSource,
  type ReadsOptions,
  type SourceRead,
} from './bounded.ts'
import type { OpenedReader } from './open-reader.ts'
import { createStatedFloors } from './stated-floors.ts'
import type { Writer } from './writer.ts'

export type Reads = LookupSource &
  Bounds & {
    readonly shared: SharedStore
    readonly writeFloor: ReturnType<typeof createWriteFloor>
    /** Code that `resolve` does not need. Only this and the reader are loaded late. */
    readonly extras: () => Promise<typeof scanExtras>
    /** null before the first read. */
    reader(): CertifiedReader | null
    /** As in `ScanStatus`. */
    unconfirmedOffset(): number | null
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
  open(shared: SharedStore): Promise<OpenedReader>
  readonly extras: Reads['extras']
}): Reads {
  const { client, clock, network, writer, extras } = options
  const shared = createSharedStore(client.store, clock, client.onStoreFailure)
  let opening: Promise<OpenedReader> | undefined
  let opened: OpenedReader | null = null

  const ownError = async (error: unknown): Promise<never> => {
    // An error of the SDK needs no conversion, whose code may fail to load for the same reason.
    throw error instanceof QuorumscanError ? error : (await extras()).ownError(error)
  }
  const open = async (): Promise<OpenedReader> => {
    try {
      opened = await options.open(shared)
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
  /** No outcome `pruned` reaches the caller, because `page` restarts such walks. Hence the type `never`. */
  const reading = async (
    options: SourceRead,
    read: (opened: OpenedReader, bound: CertifiedReadOptions) => Promise<unknown>,
  ): Promise<never> => {
    const { statedOffset = 0, ...bound } = options
    const floors = [statedOffset, ...(await writtenOffsets())]
    const opened = await whenOpened().catch(ownError)
    const ask = (at: CertifiedReadOptions) => read(opened, at).catch(ownError)
    return (await stated.read({ floors, bound, provenOffset: provenBy(opened), ask })) as never
  }
  // All clients of a network share the write floor. The key of a pinned network is known without a reader.
  const pinned = options.basis === 'proof' ? network : null
  const floorKey = async () => (client.store === undefined ? 'written' : keyOf('written', pinned))
  const writeFloor = createWriteFloor(shared, floorKey, clock)
  const stated = createStatedFloors(clock, writeFloor.forget)
  let writerOffset: (() => Promise<number>) | undefined
  const writtenOffsets = async () => {
    if (writer) writerOffset ??= (await extras()).createWriterOffset(writer, clock)
    return [...(await writeFloor.offsets()), (await writerOffset?.()) ?? 0]
  }

  return {
    clock: correctedClock(clock, () => opened?.reader ?? null),
    shared,
    writeFloor,
    extras,
    bounded: createBounded({ ...client, clock }),
    basis: options.basis,
    storeKey: (what) => keyOf(what, network),
    lookup: (lookups, read) => reading(read, ({ reader }, at) => reader.lookup(lookups, at)),
    read: (query, read) => reading(read, ({ reader }, at) => reader.read(query, at)),
    page: (page, read) =>
      reading(read, async (opened, at) => (await extras()).readEntriesPage(opened, page, at)),
    unconfirmedOffset: () => stated.unconfirmedOffset(opened === null ? 0 : provenBy(opened)()),
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

/** An offset that a client of the store has written or seen. */
type Mark = { readonly offset: number; readonly atMs: number }

const NOTHING_WRITTEN: Mark = { offset: 0, atMs: 0 }

/** How long an offset is a lower bound of reads. After this time no answer is older by default (D-39). */
const FLOOR_MS = 60_000

/**
 * The write floor: the newest offset that clients of the store have written or seen, so that reads include it.
 *
 * @param key - The key of the network in the store. Clients with the same key share the floor.
 */
export function createWriteFloor(shared: SharedStore, key: () => Promise<string>, clock: Clock) {
  const nowMs = () => clock.nowMicros() / 1000
  const isFresh = (mark: Mark) =>
    Number.isSafeInteger(mark?.offset) && Math.abs(nowMs() - mark.atMs) < FLOOR_MS
  const merge = (known: Mark, next: Mark) =>
    isFresh(next) && !(isFresh(known) && known.offset >= next.offset) ? next : known
  const mark = async () => sharedValue(shared, await key(), { first: NOTHING_WRITTEN, merge })
  /** Of this client, by the monotonic clock: it holds also if the clock of the device is set meanwhile. */
  let own: Mark = { offset: 0, atMs: Number.NEGATIVE_INFINITY }
  const ownOffset = () => (clock.monotonicMs() - own.atMs < FLOOR_MS ? own.offset : 0)
  /** Of the clients of the store, and of this one. 0: no offset was written or seen recently. */
  const offsets = async (): Promise<readonly number[]> => {
    const stored = await mark()
    // Its failure is known by `failure` of the store, and fails the reads that follow.
    const found = await stored.load().catch(() => NOTHING_WRITTEN)
    return [isFresh(found) ? found.offset : 0, ownOffset()]
  }
  return {
    offsets,
    async record(offset: number): Promise<void> {
      if (offset >= ownOffset()) own = { offset, atMs: clock.monotonicMs() }
      await (await mark()).save({ offset, atMs: nowMs() })
    },
    /** The newest of `offsets`. */
    offset: async (): Promise<number> => Math.max(...(await offsets())),
    /** Forgets what this client has seen from this offset on, so that it remembers lower ones. */
    forget(offset: number): void {
      if (own.offset >= offset) own = { offset: 0, atMs: Number.NEGATIVE_INFINITY }
    },
  }
}
