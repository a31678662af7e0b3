/** A disk that can be full: a small file system, filled to the last byte and emptied again. */
import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ClusterError } from '../cluster-error.ts'

const MIB = 2 ** 20
const CHUNK_BYTES = 65_536
/** Nobody’s own disk is filled. */
const DISK_MIB_MAX = 1024

/**
 * Puts an empty file system of this size over a directory. Its memory is the machine’s.
 *
 * @returns How to take it away again; null where this process may not mount one.
 */
export function mountDisk(directory: string, sizeMib: number): (() => void) | null {
  const options = ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', directory]
  try {
    execFileSync('mount', options, { stdio: 'ignore' })
  } catch {
    return null
  }
  return () => execFileSync('umount', ['-l', directory])
}

/**
 * Fills the file system of a directory up to this many MiB; 0: until nothing can be written any more.
 *
 * @throws {ClusterError} If it is not a small one.
 */
export async function fillDisk(directory: string, freeMib: number): Promise<void> {
  const sizeMib = mibOf(directory, 'blocks')
  if (sizeMib > DISK_MIB_MAX)
    throw new ClusterError(
      `the data directory lies on a disk of ${Math.round(sizeMib)} MiB; one of more than ${DISK_MIB_MAX} MiB is not filled`,
    )
  const file = await open(ballastOf(directory), 'a', 0o600)
  try {
    while (freeMibOf(directory) > freeMib) await file.write(Buffer.alloc(CHUNK_BYTES, 1))
  } catch (error) {
    if (freeMib > 0 || Object(error).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}

/** Takes away what `fillDisk` wrote. */
export function clearDisk(directory: string): void {
  rmSync(ballastOf(directory), { force: true })
}

export function freeMibOf(directory: string): number {
  return mibOf(directory, 'bavail')
}

function mibOf(directory: string, count: 'blocks' | 'bavail'): number {
  const status = statfsSync(directory)
  return (status[count] * status.bsize) / MIB
}

function ballastOf(directory: string): string {
  return join(directory, 'ballast')
}
