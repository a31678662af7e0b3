/** The directory of a cluster's unix sockets, which a control plane that takes over finds again. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { readOwnJson, writeOwnJson } from '@quorumscan/runtime'

const SOCKET_DIRECTORY_PREFIX = 'qs-'

/** Where it is noted. */
type Noted = { readonly socketsFile: string }

/** Makes one, and notes where it is. Below the real path of the temporary directory, because Redis is given it as it is. */
export function makeSocketDirectory(directory: Noted): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), SOCKET_DIRECTORY_PREFIX))
  writeOwnJson(directory.socketsFile, { path })
  return path
}

/** Of the Redis of a service. */
export function redisSocketOf(socketDirectory: string, service: string): string {
  return join(socketDirectory, service)
}

/** Where the sockets of a control plane that crashed are; null if they are not there. */
export function keptSocketDirectory(directory: Noted): string | null {
  const recorded = readOwnJson(directory.socketsFile) as { readonly path: string } | null
  return recorded !== null && existsSync(recorded.path) ? recorded.path : null
}

/** Deletes the sockets, and forgets where they were. */
export function removeSocketDirectory(directory: Noted): void {
  const recorded = readOwnJson(directory.socketsFile) as { readonly path: string } | null
  if (recorded === null) return
  // Whatever that file says, nothing else is ever deleted.
  if (basename(recorded.path).startsWith(SOCKET_DIRECTORY_PREFIX))
    rmSync(recorded.path, { recursive: true, force: true })
  rmSync(directory.socketsFile, { force: true })
}
