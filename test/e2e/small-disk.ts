/** A small file system, if this process can mount one: as root, in a container that allows it. */
import { createDirectory, provided } from '@quorumscan/testkit'
import { clearDisk, fillDisk, freeMibOf, mountDisk } from 'quorumscan/testing/disk'

export type SmallDisk = Disposable & {
  readonly path: string
  freeMib(): number
  /** Fills it until this many MiB are free. With 0 nothing can be written any more. */
  fill(freeMib: number): Promise<void>
  /** Deletes the files of `fill`. */
  clear(): void
}

/** Returns null if this process cannot mount a file system: its tests are skipped. With CI set it throws instead. */
export function mountSmallDisk(sizeMib: number): SmallDisk | null {
  if (provided('mount') === null) return null
  const { path, ...directory } = createDirectory('disk')
  const unmount = mountDisk(path, sizeMib)
  if (unmount === null) throw new Error(`cannot mount a file system of ${sizeMib} MiB`)
  return {
    path,
    freeMib: () => freeMibOf(path),
    fill: (freeMib) => fillDisk(path, freeMib),
    clear: () => clearDisk(path),
    [Symbol.dispose]() {
      unmount()
      directory[Symbol.dispose]()
    },
  }
}
