/** Deletes several directories as one step: a failure leaves each of them whole. */
import { renameSync, rmSync } from 'node:fs'
import { isErrno } from '@quorumscan/runtime'

const SUFFIX = '.wiped'

export type SetAside = ReturnType<typeof setAside>

/**
 * Renames directories, all or none, within their parents. One that does not exist counts as moved.
 *
 * @throws {Error} If one cannot be moved, e.g. for lack of permission: then all are where they were.
 */
export function setAside(paths: readonly string[]) {
  const moved: string[] = []
  const aside = {
    /** Undoes it. */
    putBack(): void {
      for (const path of moved) {
        // A process that was started meanwhile may have created it.
        rmSync(path, { recursive: true, force: true })
        renameSync(path + SUFFIX, path)
      }
    },
    /** @throws {Error} With the path, if something cannot be deleted. The original paths stay free. */
    delete(): void {
      for (const path of moved) rmSync(path + SUFFIX, { recursive: true, force: true })
    },
  }
  try {
    for (const path of paths) {
      // An earlier call could not delete it.
      rmSync(path + SUFFIX, { recursive: true, force: true })
      if (moveIfThere(path)) moved.push(path)
    }
  } catch (error) {
    aside.putBack()
    throw error
  }
  return aside
}

function moveIfThere(path: string): boolean {
  try {
    renameSync(path, path + SUFFIX)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}
