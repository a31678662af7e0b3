/**
 * Whether the log has room: on its disk, and in the memory of its Redis and of those that follow it. Full is a state in two
 * steps. First, entries that add to the state are refused; archivals, renewals and confirmations continue, and free space.
 * Then all entries are refused, so that checkpoints still fit: without them reads become stale, and nothing is trimmed.
 */
import { statfs } from 'node:fs/promises'
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { EXHAUSTED_SHARE, FREE_SHARE, FULL_SHARE } from '@quorumscan/redis'
import { type RedisMemory, repeat } from '@quorumscan/runtime'

/** `df` is a system call of microseconds. */
const MEASURE_MS = 1000
/** The log and, on the machine of a local cluster, the file of each replica store an entry. */
const WRITTEN_PER_BYTE = 8
/** The log stores the bytes, and a replica on the same Redis what follows from them. */
const STORED_PER_BYTE = 2
/** Of the least free disk: below it, all entries are refused. */
const DISK_EXHAUSTED_SHARE = 0.5
const MIB = 2 ** 20

/** How much is free on the disk of a directory. */
export type FreeBytesOf = (directory: string) => Promise<number>

/** Asks the operating system. */
export async function freeBytesOnDisk(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** What is full, and whether no entry at all has room. */
type Shortage = { readonly what: string; readonly isExhausted: boolean }

export type Room = Awaited<ReturnType<typeof watchRoom>>

export async function watchRoom(options: {
  /** The directory of the log's file; null where it is on another machine, for which there always is room. */
  readonly directory: string | null
  readonly freeMibMin: number
  readonly freeBytesOf?: FreeBytesOf | undefined
  /** Of the Redis of the log. */
  readonly memory: Pick<RedisMemory, 'use'>
  /** `cometbft`: only its own memory counts, so that no other member can stop it. */
  readonly ordering: 'redis' | 'cometbft'
  /** The shares of memory that the nodes report. */
  readonly shares: () => readonly number[]
  /** So many nodes may lie. */
  readonly faulty: number
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}) {
  const { directory, freeMibMin, freeBytesOf = freeBytesOnDisk, memory, ordering, clock } = options
  const shares = () => (ordering === 'redis' ? options.shares() : [])
  let freeBytes = Number.POSITIVE_INFINITY
  /** Admitted since the last measurement. */
  let admittedBytes = 0

  /** Whether memory was full at the last measurements: its own, and that of the nodes. */
  let isOwnFull = false
  let areNodesFull = false

  /** How much of its memory is used, and will be when what was admitted is stored; null: it is not known. */
  const ownShare = (): number | null => {
    const use = memory.use()
    return use && (use.usedBytes + STORED_PER_BYTE * admittedBytes) / use.maxBytes
  }
  /** At least one honest node is as full: f liars can neither stop the log nor hide that f + 1 others are full. */
  const nodesShare = (): number | null => shares().toSorted((a, b) => b - a)[options.faulty] ?? null
  const isFullAt = (share: number | null, wasFull: boolean): boolean =>
    share !== null && share >= (wasFull ? FREE_SHARE : FULL_SHARE)

  const measure = async () => {
    admittedBytes = 0
    isOwnFull = isFullAt(ownShare(), isOwnFull)
    areNodesFull = isFullAt(nodesShare(), areNodesFull)
    if (directory !== null) freeBytes = await freeBytesOf(directory)
  }
  const { onProblem: onError } = options
  await measure().catch(onError)
  const measuring = repeat(measure, { clock, everyMs: MEASURE_MS, waitsFirst: true, onError })

  const onDisk = (): Shortage | null => {
    const free = freeBytes - WRITTEN_PER_BYTE * admittedBytes
    if (free >= freeMibMin * MIB) return null
    return {
      what: `the disk of the log has ${Math.max(0, Math.floor(free / MIB))} MiB free and needs ${freeMibMin} MiB`,
      isExhausted: free < DISK_EXHAUSTED_SHARE * freeMibMin * MIB,
    }
  }
  const inMemory = (share: number | null, wasFull: boolean, whose: string): Shortage | null =>
    share === null || !isFullAt(share, wasFull)
      ? null
      : {
          what: `the memory of ${whose} is full to ${Math.floor(100 * share)} %`,
          isExhausted: share >= EXHAUSTED_SHARE,
        }
  const nodes = options.faulty === 0 ? 'a node' : `${options.faulty + 1} nodes`
  const shortage = (): Shortage | null => {
    const all = [
      onDisk(),
      inMemory(ownShare(), isOwnFull, "the log's Redis"),
      inMemory(nodesShare(), areNodesFull, nodes),
    ].filter((one) => one !== null)
    return all.find(({ isExhausted }) => isExhausted) ?? all[0] ?? null
  }

  return {
    /** Whether entries that add to the state are refused. */
    isFull: (): boolean => shortage() !== null,
    /**
     * @param entry.adds - Whether it may add to the state.
     * @throws {ScanError} LOG_FULL.
     */
    assertRoom({ adds }: { readonly adds: boolean }): void {
      const found = shortage()
      if (found === null || !(adds || found.isExhausted)) return
      const refused = found.isExhausted
        ? 'the log accepts no entry'
        : 'the log accepts archivals, renewals and confirmations only'
      throw new ScanError('LOG_FULL', `${found.what}: ${refused} until space is freed`, {
        retryAfterSeconds: MEASURE_MS / 1000,
      })
    },
    /** Counts what was admitted since the last measurement. */
    note(bytes: number): void {
      admittedBytes += bytes
    },
    [Symbol.asyncDispose]: () => measuring[Symbol.asyncDispose](),
  }
}
