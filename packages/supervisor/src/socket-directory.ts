/** The directory of the unix sockets of a data directory. A supervisor that takes over finds it again. */
import { accessSync, constants, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { CommandError, readOwnJson, writeOwnJson } from '@quorumscan/runtime'
import { memberOf } from '@quorumscan/verifier'

const SOCKET_DIRECTORY_PREFIX = 'qs-'
/** What the system accepts as the path of a unix socket: `sun_path` without its last byte. */
export const SOCKET_PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107
/** A prefix of two characters, a name of 32 (D-33), `.synchronizer`, and an ending of seven. */
const SOCKET_NAME_BYTES_MAX = 54
/** `/qs-` and six characters of `mkdtemp`, and the separator before a name. */
const DIRECTORY_NAME_BYTES = 11
const PARENT_BYTES_MAX = SOCKET_PATH_BYTES_MAX - DIRECTORY_NAME_BYTES - SOCKET_NAME_BYTES_MAX

/** The file in which its path is recorded. */
type SocketRecord = { readonly socketsFile: string }

/**
 * Makes one and records its path: below the real path of the temporary directory, because Redis resolves no links. If that
 * path is too long for a socket, below `/tmp`.
 *
 * @throws {CommandError} If neither exists, can be written and is short enough.
 */
export function makeSocketDirectory({ socketsFile }: SocketRecord): string {
  const path = mkdtempSync(join(shortDirectory(), SOCKET_DIRECTORY_PREFIX))
  writeOwnJson(socketsFile, { path })
  return path
}

function shortDirectory(): string {
  const candidates = [tmpdir(), '/tmp'].filter(isWritable)
  const found = candidates
    .map((directory) => realpathSync(directory))
    .find((directory) => Buffer.byteLength(directory) <= PARENT_BYTES_MAX)
  if (found !== undefined) return found
  throw new CommandError(
    `no directory for unix sockets: the path of the temporary directory ${tmpdir()} has more than ${PARENT_BYTES_MAX} ` +
      'bytes or cannot be written, and /tmp cannot be used either. Set TMPDIR to a directory with a shorter path',
  )
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The socket of the Redis of a service. */
export function redisSocketOf(socketDirectory: string, service: string): string {
  return join(socketDirectory, service)
}

/** The sockets that a supervisor left when it crashed; null without any. */
export function existingSocketDirectory({ socketsFile }: SocketRecord): string | null {
  const path = recordedPath(socketsFile)
  return path !== '' && existsSync(path) ? path : null
}

/** Deletes the sockets, and the record of them. */
export function removeSocketDirectory({ socketsFile }: SocketRecord): void {
  const path = recordedPath(socketsFile)
  // Whatever the file names, nothing else is ever deleted.
  if (basename(path).startsWith(SOCKET_DIRECTORY_PREFIX))
    rmSync(path, { recursive: true, force: true })
  rmSync(socketsFile, { force: true })
}

/** Empty without a record. */
function recordedPath(socketsFile: string): string {
  return String(memberOf(readOwnJson(socketsFile), 'path') ?? '')
}
