/** Deletes several directories as one step: a failure halfway leaves each of them whole. */
import { renameSync, rmSync } from 'node:fs'

const SUFFIX = '.wiped'

export type SetAside = {
  /** Undoes it. */
  putBack(): void
  /** @throws {Error} With the path, if something cannot be deleted; the directories are empty places all the same. */
  delete(): void
}

/**
 * Renames directories, all or none, within the directory that they are in. One that does not exist counts as moved.
 *
 * @throws {Error} If one cannot be moved, e.g. for want of permission: all are where they were then.
 */
export function setAside(paths: readonly string[]): SetAside {
  const moved: string[] = []
  const aside: SetAside = {
    putBack() {
      for (const path of moved) {
        // A process that was started meanwhile may have made it again.
        rmSync(path, { recursive: true, force: true })
        renameSync(path + SUFFIX, path)
      }
    },
    delete() {
      for (const path of moved) rmSync(path + SUFFIX, { recursive: true, force: true })
    },
  }
  try {
    for (const path of paths) {
      // What an earlier one could not delete.
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
