/**
 * Whether the disk has space for more of the log. A full disk stops every Redis on it, so entries are refused while
 * checkpoints still fit. Without checkpoints reads become stale.
 */
import { statfs } from 'node:fs/promises'
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { repeat } from '@quorumscan/runtime'

/** `df` is a system call of microseconds. */
const MEASURE_MS = 1000
/** The log and, on the machine of a local cluster, the file of each replica store an entry. */
const WRITTEN_PER_BYTE = 8
const MIB = 2 ** 20

/** How much is free on the disk of a directory. */
export type FreeBytesOf = (directory: string) => Promise<number>

/** Asks the operating system. */
export async function freeBytesOnDisk(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** @param options.directory - The directory of the log's file; null where it is on another machine, for which there always is room. */
export async function watchDiskSpace(options: {
  readonly directory: string | null
  readonly freeMibMin: number
  readonly freeBytesOf?: FreeBytesOf | undefined
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}) {
  const { directory, freeMibMin, freeBytesOf = freeBytesOnDisk, clock } = options
  let freeBytes = Number.POSITIVE_INFINITY

  const measure = async () => {
    if (directory !== null) freeBytes = await freeBytesOf(directory)
  }
  const isFull = () => freeBytes < freeMibMin * MIB
  const { onProblem: onError } = options
  await measure().catch(onError)
  const measuring = repeat(measure, { clock, everyMs: MEASURE_MS, waitsFirst: true, onError })

  return {
    isFull,
    /** @throws {ScanError} LOG_FULL if the free space is below `freeMibMin`. */
    assertRoom(): void {
      if (!isFull()) return
      const sentence = `the disk of the log has ${Math.floor(freeBytes / MIB)} MiB free and needs ${freeMibMin} MiB: the synchronizer refuses entries until space is freed`
      throw new ScanError('LOG_FULL', sentence, { retryAfterSeconds: MEASURE_MS / 1000 })
    },
    /** Counts what was admitted since the last measurement. */
    note(bytes: number): void {
      freeBytes -= WRITTEN_PER_BYTE * bytes
    },
    [Symbol.asyncDispose]: () => measuring[Symbol.asyncDispose](),
  }
}

export type DiskSpace = Awaited<ReturnType<typeof watchDiskSpace>>
