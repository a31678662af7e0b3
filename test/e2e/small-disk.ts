/** A small file system of its own, where this process may mount one: root in a container that allows it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { provided } from '@quorumscan/testkit'
import { clearDisk, fillDisk, freeMibOf, mountDisk } from 'quorumscan/testing/disk'

export type SmallDisk = Disposable & {
  readonly path: string
  freeMib(): number
  /** Fills it up to this many MiB; 0: until nothing can be written any more. */
  fill(freeMib: number): Promise<void>
  /** Takes away what `fill` wrote. */
  clear(): void
}

/** Null where mounting is not allowed: what needs it is skipped, never where CI is set. */
export function mountSmallDisk(sizeMib: number): SmallDisk | null {
  if (provided('mount') === null) return null
  const path = mkdtempSync(join(tmpdir(), 'qs-disk-'))
  const unmount = mountDisk(path, sizeMib)
  if (unmount === null) throw new Error(`no file system of ${sizeMib} MiB can be mounted here`)
  return {
    path,
    freeMib: () => freeMibOf(path),
    fill: (freeMib) => fillDisk(path, freeMib),
    clear: () => clearDisk(path),
    [Symbol.dispose]() {
      unmount()
      rmSync(path, { recursive: true })
    },
  }
}
