/**
 * Everything that a cluster keeps: one directory, readable by its owner alone. Says where each thing
 * lies and writes so that a crash leaves the old file or the new one, never half of one.
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
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { REPOSITORY_ROOT } from './built-files.ts'

const DIRECTORY_MODE = 0o700
const SECRET_MODE = 0o600

export type DataDirectory = ReturnType<typeof dataDirectory>

/** Paths below `root`; touches nothing. */
export function dataDirectory(root: string) {
  const path = resolve(root)
  return {
    path,
    /** What was decided at the first `up`: size and ports. */
    clusterFile: join(path, 'cluster.json'),
    genesisFile: join(path, 'genesis.json'),
    /** Where the running control plane answers; absent while none runs. */
    controlFile: join(path, 'control.json'),
    /** The processes that are or were running, so that the next control plane can end leftovers. */
    processesFile: join(path, 'processes.json'),
    /** Where the unix sockets of the running cluster are: outside, because their paths must be short. */
    socketsFile: join(path, 'sockets.json'),
    /** The faults in force. */
    faultsFile: join(path, 'faults.json'),
    /** The files of each chaos run are in a directory of its own below. */
    chaosDirectory: join(path, 'chaos'),
    keyFile: (name: string) => join(path, 'keys', name),
    secretFile: (name: string) => join(path, 'secrets', name),
    redisDirectory: (name: string) => join(path, 'redis', name),
    logFile: (name: string) => join(path, 'logs', `${name}.log`),
  }
}

/** `.quorumscan` at the root of the repository; where the package is installed elsewhere, in `cwd`. */
export function defaultDataDirectory(cwd: string): string {
  const isRepository = existsSync(join(REPOSITORY_ROOT, 'turbo.json'))
  return join(isRepository ? REPOSITORY_ROOT : cwd, '.quorumscan')
}

/** Makes the directory and what is above it; 0700 even where it existed with more rights. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE })
  chmodSync(path, DIRECTORY_MODE)
}

/** Replaces the file at once, with mode 0600. Durable when it returns. */
export function writeFileAtomic(path: string, text: string): void {
  const temporary = writeTemporary(path, text)
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** Writes the file unless one is there, and returns what is there then. One of several writers wins. */
export function writeFileOnce(path: string, makeText: () => string): string {
  if (!existsSync(path)) {
    const temporary = writeTemporary(path, makeText())
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

/** The file's JSON, or null where there is no file. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

/** Whether the error is of the system and has this code, e.g. `ENOENT`. */
export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function writeTemporary(path: string, text: string): string {
  makePrivateDirectory(dirname(path))
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = openSync(temporary, 'wx', SECRET_MODE)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return temporary
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
