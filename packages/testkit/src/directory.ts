/** Temporary directories of tests. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TestDirectory = Disposable &
  AsyncDisposable & {
    /** Without symbolic links, and short: sockets have paths of at most 107 bytes. */
    readonly path: string
  }

/**
 * An empty directory, deleted with all that is in it.
 *
 * @param name - Part of its name.
 * @param parent - The directory in which it is.
 */
export function createDirectory(name = 't', parent = tmpdir()): TestDirectory {
  const path = mkdtempSync(join(realpathSync(parent), `qs-${name}-`))
  const remove = () => rmSync(path, { recursive: true, force: true })
  return { path, [Symbol.dispose]: remove, [Symbol.asyncDispose]: async () => remove() }
}
