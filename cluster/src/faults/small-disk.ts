/** A disk that can be full: a small file system, filled to the last byte and emptied again. */
import assert from 'node:assert'
import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const MIB = 2 ** 20
const CHUNK_BYTES = 65_536
/** More may be somebody’s own. */
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

/** Whether the file system of a directory is one that may be filled. */
export function isSmallDisk(directory: string): boolean {
  return mibOf(directory, 'blocks') <= DISK_MIB_MAX
}

/** Fills the file system of a directory up to this many MiB, if it is a small one; 0: until nothing can be written any more. */
export async function fillDisk(directory: string, freeMib: number): Promise<void> {
  assert(isSmallDisk(directory), 'nobody’s own disk is filled')
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
