/** A small file system of its own, where this process may mount one: root in a container that allows it. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MIB = 2 ** 20
const CHUNK_BYTES = 65_536

export type SmallDisk = Disposable & {
  readonly path: string
  freeMib(): number
  /** Fills it up to this many MiB; 0: until nothing can be written any more. */
  fill(freeMib: number): void
  /** Takes away what `fill` wrote. */
  clear(): void
}

/** Null where mounting is not allowed. */
export function mountSmallDisk(sizeMib: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'qs-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', path], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(path, { recursive: true })
    return null
  }
  const ballast = join(path, 'ballast')
  const freeMib = () => {
    const { bavail, bsize } = statfsSync(path)
    return (bavail * bsize) / MIB
  }
  return {
    path,
    freeMib,
    fill(wanted) {
      const file = openSync(ballast, 'a')
      try {
        while (freeMib() > wanted) writeSync(file, Buffer.alloc(CHUNK_BYTES, 1))
      } catch (error) {
        if (wanted > 0 || !(error instanceof Error && 'code' in error && error.code === 'ENOSPC'))
          throw error
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path])
      rmSync(path, { recursive: true })
    },
  }
}
