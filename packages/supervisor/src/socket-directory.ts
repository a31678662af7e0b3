/** The directory of the unix sockets of a data directory. A supervisor that takes over finds it again. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { readOwnJson, writeOwnJson } from '@quorumscan/runtime'

const SOCKET_DIRECTORY_PREFIX = 'qs-'

/** The file in which its path is recorded. */
type SocketRecord = { readonly socketsFile: string }

/** Makes one and records its path: below the real path of the temporary directory, because Redis resolves no links. */
export function makeSocketDirectory({ socketsFile }: SocketRecord): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), SOCKET_DIRECTORY_PREFIX))
  writeOwnJson(socketsFile, { path })
  return path
}

/** The socket of the Redis of a service. */
export function redisSocketOf(socketDirectory: string, service: string): string {
  return join(socketDirectory, service)
}

/** The sockets that a supervisor left when it crashed; null without any. */
export function existingSocketDirectory({ socketsFile }: SocketRecord): string | null {
  const path = Object(readOwnJson(socketsFile)).path ?? null
  return path !== null && existsSync(path) ? path : null
}

/** Deletes the sockets, and the record of them. */
export function removeSocketDirectory({ socketsFile }: SocketRecord): void {
  const { path = '' } = Object(readOwnJson(socketsFile))
  // Whatever the file names, nothing else is ever deleted.
  if (basename(path).startsWith(SOCKET_DIRECTORY_PREFIX))
    rmSync(path, { recursive: true, force: true })
  rmSync(socketsFile, { force: true })
}
