/** A small file system, which only root can mount, in a container that allows it. */
import { createDirectory, required } from '@quorumscan/testkit'
import { clearDisk, fillDisk, mountDisk } from 'quorumscan/testing/disk'

export type SmallDisk = AsyncDisposable & {
  readonly path: string
  /** Fills it until this many MiB are free. With 0 nothing can be written any more. */
  fill(freeMib: number): Promise<void>
  /** Deletes the files of `fill`. */
  clear(): void
}

/** Where this process cannot mount one, the test is skipped. With CI set it fails. */
export function mountSmallDisk(sizeMib: number): SmallDisk {
  required('mount')
  const { path, ...directory } = createDirectory('disk')
  const unmount = mountDisk(path, sizeMib)
  if (unmount === null) throw new Error(`cannot mount a file system of ${sizeMib} MiB`)
  return {
    path,
    fill: (freeMib) => fillDisk(path, freeMib),
    clear: () => clearDisk(path),
    async [Symbol.asyncDispose]() {
      unmount()
      directory[Symbol.dispose]()
    },
  }
}
