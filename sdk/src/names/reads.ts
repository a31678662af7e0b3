/** What all lookups of a client share: the reader, which the first of them opens, and the lowest offset to read at. */
import type { CertifiedReader } from '@quorumscan/reader/certified'
import { QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { createSharedStore, type SharedStore, sharedValue } from '../platform/shared-store.ts'
import { storeKey } from '../platform/store.ts'
import type * as scanExtras from '../scan-extras.ts'
import { type Bounds, createBounded, type LookupSource, type ReadsOptions } from './bounded.ts'
import type { OpenedReader } from './open-reader.ts'
import type { Writer } from './writer.ts'

export type Reads = LookupSource &
  Bounds & {
    readonly shared: SharedStore
    readonly writeFloor: ReturnType<typeof createWriteFloor>
    /** Code that `resolve` does not need. Only this and the reader are loaded late. */
    readonly extras: () => Promise<typeof scanExtras>
    /** null before the first read. */
    reader(): CertifiedReader | null
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
  const reading = async (read: (opened: OpenedReader) => Promise<unknown>): Promise<never> =>
    (await read(await whenOpened()).catch(ownError)) as never
  // All clients of a network share the write floor. The key of a pinned network is known without a reader.
  const pinned = options.basis === 'proof' ? network : null
  const floorKey = async () => (client.store === undefined ? 'written' : keyOf('written', pinned))
  const writeFloor = createWriteFloor(shared, floorKey, clock)
  let writerOffset: (() => Promise<number>) | undefined
  const floor = async () => {
    if (writer) writerOffset ??= (await extras()).createWriterOffset(writer, clock)
    return Math.max(await writeFloor.offset(), (await writerOffset?.()) ?? 0)
  }

  return {
    clock: correctedClock(clock, () => opened?.reader ?? null),
    shared,
    writeFloor,
    extras,
    bounded: createBounded({ ...client, clock, floor }),
    basis: options.basis,
    storeKey: (what) => keyOf(what, network),
    lookup: (lookups, read) => reading(({ reader }) => reader.lookup(lookups, read)),
    read: (query, read) => reading(({ reader }) => reader.read(query, read)),
    page: (page, read) =>
      reading(async (opened) => (await extras()).readEntriesPage(opened, page, read)),
    reader: () => opened?.reader ?? null,
    async close() {
      await opening?.catch(() => {}) // It failed, or was aborted just now.
      await opened?.reader[Symbol.asyncDispose]()
    },
  }
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

/**
 * How long an offset is a lower bound of reads. After this time no answer is older by default (D-39), and an offset that a
 * lying validator invented does not block reads for longer.
 */
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
  return {
    async record(offset: number): Promise<void> {
      if (offset >= ownOffset()) own = { offset, atMs: clock.monotonicMs() }
      await (await mark()).save({ offset, atMs: nowMs() })
    },
    /** 0: no offset was written or seen recently. */
    async offset(): Promise<number> {
      const stored = await mark()
      // Its failure is known by `failure` of the store, and fails the reads that follow.
      const found = await stored.load().catch(() => NOTHING_WRITTEN)
      return Math.max(isFresh(found) ? found.offset : 0, ownOffset())
    },
  }
}
