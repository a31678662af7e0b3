/**
 * Private files of a data directory: readable by their owner alone, and written so that a crash leaves the complete old
 * file or the complete new one.
 */

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { membersOf } from '@quorumscan/verifier'
import { CommandError, messageOf } from './command-error.ts'

const DIRECTORY_MODE = 0o700
const SECRET_MODE = 0o600
/** The mode of public files, which every user of this machine can read. */
export const PUBLIC_MODE = 0o644

/** Makes the directory and its parents; 0700 even if it existed with more rights. */
export function makePrivateDirectory(path: string): void {
  makeDirectories(path)
  chmodSync(path, DIRECTORY_MODE)
}

/** Without `recursive` of `mkdirSync`, which does not end where a file system refuses with ENOENT, as /proc does. */
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
    rmSync(writeTemporary(join(path, 'writable'), '\n')) // An empty file fits on a full disk.
  } catch (error) {
    const { code = null } = error as NodeJS.ErrnoException
    const why =
      code === 'ENOSPC' ? 'the disk is full' : 'it is read-only, or not a directory of this user'
    const message = `nothing can be written in ${path}: ${why} (${code}). Name another directory`
    throw new CommandError(message, { cause: error })
  }
}

/** Replaces the file atomically. Durable when it returns. Makes its directory if it is missing. */
export function writeFileAtomic(path: string, text: string, mode = SECRET_MODE): void {
  const temporary = writeTemporary(path, text, mode)
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** As `writeFileAtomic`, but needs no space on the disk if the file has this content. */
export function writeFileUnlessEqual(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileAtomic(path, text)
}

/** Writes the file unless it exists, and returns its content. One of several writers wins. */
export function writeFileOnce(path: string, makeText: () => string, mode = SECRET_MODE): string {
  if (!existsSync(path)) writeNewFile(path, makeText(), mode)
  return readFileSync(path, 'utf8')
}

/** Writes the file unless it exists, and returns whether it did. One of several writers wins. */
export function writeNewFile(path: string, text: string, mode = SECRET_MODE): boolean {
  makePrivateDirectory(dirname(path))
  const temporary = writeTemporary(path, text, mode)
  try {
    linkSync(temporary, path)
    syncDirectory(dirname(path))
    return true
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
    return false
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** The file's JSON, or null without a file. @throws {CommandError} If it is damaged. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error instanceof SyntaxError ? damageOf(path, error) : error
  }
}

/** The error of a file whose content is not what was written. */
function damageOf(path: string, cause: unknown): CommandError {
  const message = `${path} is damaged (${messageOf(cause)}): restore a complete copy, or start again with another --data-dir`
  return new CommandError(message, { cause })
}

/** The result of `read`. @throws {CommandError} If it throws: the file is damaged. */
export function unlessDamaged<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof CommandError ? error : damageOf(path, error)
  }
}

/**
 * Writes a file that is valid in this directory alone, such as the list of its running processes: in a copy of the
 * directory it is ignored. Does nothing if the directory does not exist.
 */
export function writeOwnJson(path: string, content: unknown): void {
  const owner = identityOfDirectory(dirname(path))
  if (owner !== null) writeFileAtomic(path, JSON.stringify({ owner, content }))
}

/** The content of `writeOwnJson`; null if it is missing, damaged, or of a copied directory. */
export function readOwnJson(path: string): unknown {
  try {
    const { owner, content } = membersOf(JSON.parse(readFileSync(path, 'utf8')))
    return owner !== undefined && owner === identityOfDirectory(dirname(path)) ? content : null
  } catch {
    // A missing or half-copied file is not evidence of running processes.
    return null
  }
}

/** Distinguishes a directory from its copies, and stays when it is moved; null if it does not exist. */
export function identityOfDirectory(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

/** The length of a secret, such as the one that signs tokens. */
export const SECRET_BYTES = 32

/** A secret, in hex, without the end of its line. @throws {CommandError} If the file does not hold one; the system's error if it cannot be read. */
export function readSecret(file: string): string {
  const secret = readFileSync(file, 'utf8').trim()
  if (new RegExp(`^[0-9a-f]{${2 * SECRET_BYTES}}$`).test(secret)) return secret
  throw damageOf(file, `it does not hold ${SECRET_BYTES} bytes`)
}

/** Whether the error is a system error with this code, e.g. `ENOENT`. */
export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function writeTemporary(path: string, text: string, mode = SECRET_MODE): string {
  makeDirectories(dirname(path))
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  writeFileSync(temporary, '', { flag: 'wx', mode: SECRET_MODE })
  chmodSync(temporary, mode) // Regardless of the umask.
  try {
    writeFileSync(temporary, text, { flush: true })
  } catch (error) {
    rmSync(temporary) // Else each attempt on a full disk would leave a file.
    throw error
  }
  return temporary
}

/** Makes the entries of the directory durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
