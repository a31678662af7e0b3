/** A small file system that can be filled and emptied again. */

import assert from 'node:assert'
import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { memberOf } from '@quorumscan/verifier'

const MIB = 2 ** 20
const CHUNK_BYTES = 65_536
/** A larger disk may be a real one. */
const DISK_MIB_MAX = 1024

/**
 * Mounts an empty file system of this size, in memory, on a directory.
 *
 * @returns A function that unmounts it; null where this process may not mount one.
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

/** Whether the file system of a directory may be filled. */
export function isSmallDisk(directory: string): boolean {
  return mibOf(directory, 'blocks') <= DISK_MIB_MAX
}

/** Fills the small file system of a directory up to this free space in MiB; 0: until no write succeeds. */
export async function fillDisk(directory: string, freeMib: number): Promise<void> {
  assert(isSmallDisk(directory), 'only a small file system may be filled')
  const file = await open(ballastOf(directory), 'a', 0o600)
  try {
    while (freeMibOf(directory) > freeMib) await file.write(Buffer.alloc(CHUNK_BYTES, 1))
  } catch (error) {
    if (freeMib > 0 || memberOf(error, 'code') !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}

/** Deletes the file of `fillDisk`. */
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
