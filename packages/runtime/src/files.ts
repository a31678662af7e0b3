/**
 * Private files of a data directory: readable by their owner alone, and written so that a crash leaves the old file or
 * the new one, never half of one.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandError, messageOf } from './command-error.ts'

const DIRECTORY_MODE = 0o700
const SECRET_MODE = 0o600
/** For what is shown to others: every user of this machine can read it. */
export const PUBLIC_MODE = 0o644

/** Makes the directory and what is above it; 0700 even where it existed with more rights. */
export function makePrivateDirectory(path: string): void {
  makeDirectories(path)
  chmodSync(path, DIRECTORY_MODE)
}

/** Without `recursive` of `mkdirSync`: it never ends where a file system refuses with ENOENT, as /proc does. */
function makeDirectories(path: string): void {
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    const parent = dirname(path)
    if (!isErrno(error, 'ENOENT') || existsSync(parent)) throw error
    makeDirectories(parent)
    makeDirectories(path)
  }
}

/** @throws {CommandError} If nothing can be written there. */
export function assertWritable(path: string): void {
  try {
    makePrivateDirectory(path)
    rmSync(writeTemporary(join(path, 'writable'), ''))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    const why =
      code === 'ENOSPC' ? 'the disk is full' : 'it is read-only, or not a directory of yours'
    throw new CommandError(
      `nothing can be written in ${path}: ${why} (${code}). Name another directory`,
      { cause: error },
    )
  }
}

/** Replaces the file at once, with mode 0600. Durable when it returns. Makes its directory, and leaves one that exists as it is. */
export function writeFileAtomic(path: string, text: string): void {
  const temporary = writeTemporary(path, text)
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** As `writeFileAtomic`, but needs no room on the disk where the file says so already. */
export function writeFileUnlessEqual(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileAtomic(path, text)
}

/** Writes the file unless one is there, and returns what is there then. One of several writers wins. */
export function writeFileOnce(path: string, makeText: () => string, mode = SECRET_MODE): string {
  if (!existsSync(path)) {
    makePrivateDirectory(dirname(path))
    const temporary = writeTemporary(path, makeText(), mode)
    try {
      linkSync(temporary, path)
      syncDirectory(dirname(path))
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
    } finally {
      rmSync(temporary, { force: true })
    }
  }
  return readFileSync(path, 'utf8')
}

/** The file's JSON, or null where there is no file. @throws {CommandError} If it is half written. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error instanceof SyntaxError ? damageOf(path, error) : error
  }
}

/** Of a file that says something else than what was written there. */
function damageOf(path: string, cause: unknown): CommandError {
  return new CommandError(
    `${path} is damaged (${messageOf(cause)}): put a whole copy back, or begin anew with another --data-dir`,
    { cause },
  )
}

/** What `read` makes of a file. @throws {CommandError} If it throws: the file is damaged. */
export function unlessDamaged<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof CommandError ? error : damageOf(path, error)
  }
}

/**
 * Writes what holds of this directory alone, such as what runs in it now: a copy of it is told apart.
 * Does nothing where the directory is gone.
 */
export function writeOwnJson(path: string, content: unknown): void {
  const owner = identityOfDirectory(dirname(path))
  if (owner !== null) writeFileAtomic(path, JSON.stringify({ owner, content }))
}

/** What `writeOwnJson` wrote; null where there is nothing, or it is damaged, or came with a copied directory. */
export function readOwnJson(path: string): unknown {
  try {
    const { owner, content } = Object(JSON.parse(readFileSync(path, 'utf8')))
    return owner !== undefined && owner === identityOfDirectory(dirname(path)) ? content : null
  } catch {
    // Half written by somebody's copy, or not there: it says nothing about what runs.
    return null
  }
}

/** Tells a directory from its copies, and stays when it is moved; null if there is none. */
export function identityOfDirectory(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

/** Of a secret, such as that with which tokens are signed. */
export const SECRET_BYTES = 32

/** A secret, in hex, without the end of its line. @throws {CommandError} If the file does not hold one; the system's error if it cannot be read. */
export function readSecret(file: string): string {
  const secret = readFileSync(file, 'utf8').trim()
  if (new RegExp(`^[0-9a-f]{${2 * SECRET_BYTES}}$`).test(secret)) return secret
  throw damageOf(file, `it does not hold ${SECRET_BYTES} bytes`)
}

/** Whether the error is of the system and has this code, e.g. `ENOENT`. */
export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function writeTemporary(path: string, text: string, mode = SECRET_MODE): string {
  makeDirectories(dirname(path))
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = openSync(temporary, 'wx', SECRET_MODE)
  try {
    fchmodSync(file, mode) // Whatever the umask takes away.
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return temporary
}

/** Makes it durable which files are in the directory. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
