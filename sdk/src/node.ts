/** Parts that need Node: a store in a file. */

import { randomUUID } from 'node:crypto'
import {
  access,
  constants,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { membersOf } from '@quorumscan/verifier'
import { invalidArgument } from './errors.ts'
import { parseJson } from './platform/parse-json.ts'
import type { Store } from './platform/store.ts'

/** The mode of a new file: its values are private. */
const NEW_MODE = 0o600
/** As many symbolic links as Linux follows. */
const LINKS_MAX = 40
/** How often a process looks whether another one still writes. */
const LOCK_POLL_MS = 20
/** Writing takes milliseconds. A process that has held the lock for longer has ended, or the lock is not its own any more. */
const LOCK_MS_MAX = 5000

type Values = ReadonlyMap<string, string>

/**
 * Stores values in one JSON file, which is replaced as a whole and synced to the disk, so that a crash leaves the old or
 * the new file. Several processes may use the file: each write adds its values to those that the file has by then, under a
 * lock (`wallet.json.lock`), and one process at a time changes a value (`wallet.json.update.lock`). Of a symbolic link the target is written. The mode of the file is kept. The first `set`
 * creates the file; an empty file is a new store. A `set` that fails rejects with the error of the file system, and `get`
 * still returns the values of the file. Values set during a write are written together after it.
 *
 * Any other file that is not a JSON object of strings is not changed: all calls throw INVALID_ARGUMENT.
 *
 * @example createScan({ ...network, store: createFileStore('wallet.json') })
 */
export function createFileStore(path: string): Store {
  /** Values that the next write adds; undefined once it has begun. */
  let changes: Map<string, string> | undefined
  let writing: Promise<void> = Promise.resolve()
  /** The file as it was last read or written. */
  let known: { readonly version: string | null; readonly values: Values } | undefined
  const absolute = resolve(path)

  /** Values that the file has lost meanwhile remain: no value is ever removed. */
  const load = async (file: string): Promise<Values> => {
    const version = await versionOf(file)
    if (known === undefined || (version !== null && version !== known.version)) {
      const values = version === null ? [] : parse(await readFile(file, 'utf8'), path)
      known = { version, values: new Map([...(known?.values ?? []), ...values]) }
    }
    return known.values
  }
  const write = async (added: Values): Promise<void> => {
    const file = await targetOf(absolute)
    await mkdir(dirname(file), { recursive: true })
    const unlock = await lock(`${file}.lock`)
    try {
      const before = await load(file)
      if ([...added].every(([key, value]) => before.get(key) === value)) return
      const values = new Map([...before, ...added])
      await replace(file, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`)
      known = { version: await versionOf(file), values }
    } finally {
      await unlock()
    }
  }
  return {
    async exclusively(run) {
      const file = await targetOf(absolute)
      await mkdir(dirname(file), { recursive: true })
      const unlock = await lock(`${file}.update.lock`)
      try {
        await run()
      } finally {
        await unlock()
      }
    },
    get: async (key) => (await load(await targetOf(absolute))).get(key) ?? null,
    set(key, value) {
      if (changes === undefined) {
        const added = new Map<string, string>()
        changes = added
        const begin = () => {
          changes = undefined
          return write(added)
        }
        writing = writing.then(begin, begin)
      }
      changes.set(key, value)
      return writing
    },
  }
}

/** An empty file is a new store. @throws {QuorumscanError} INVALID_ARGUMENT if it is not a store. */
function parse(text: string, path: string): [string, string][] {
  if (text.trim() === '') return []
  const document = parseJson(text)
  const entries = Object.entries(membersOf(document))
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
  if (!isObject || !entries.every(([, value]) => typeof value === 'string'))
    throw invalidArgument(`${path} is not a store of the SDK.`)
  return entries as [string, string][]
}

/** Differs after each write of any process; null: there is no such file. */
async function versionOf(file: string): Promise<string | null> {
  const found = await statOf(file)
  return found && `${found.ino} ${found.mtimeNs} ${found.size}`
}

async function statOf(file: string) {
  try {
    return await stat(file, { bigint: true })
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null
    throw error
  }
}

/** The file to which symbolic links lead. It need not exist. */
async function targetOf(path: string): Promise<string> {
  let file = path
  for (let count = 0; count < LINKS_MAX; count++) {
    const link = await readlink(file).catch(() => null) // It is no link, or does not exist.
    if (link === null) return file
    file = resolve(await realpath(dirname(file)), link)
  }
  throw invalidArgument(`${path} leads through too many symbolic links.`)
}

/** Replaces the file, or leaves it as it is. The caller has the lock. */
async function replace(file: string, text: string): Promise<void> {
  const before = await statOf(file)
  // A rename would replace also a file that must not be written.
  if (before !== null) await access(file, constants.W_OK)
  const mode = before === null ? NEW_MODE : Number(before.mode) & 0o777
  const draft = `${file}.tmp`
  try {
    await rm(draft, { force: true })
    const handle = await open(draft, 'wx', mode)
    try {
      await handle.chmod(mode) // Without the mask of the process.
      if (before !== null)
        await handle.chown(Number(before.uid), Number(before.gid)).catch(() => {})
      await handle.writeFile(text)
      // Without it, a crash after the rename may leave an empty file.
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncDirectory(dirname(file))
}

/** Makes a rename durable. Windows has no such call. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Waits until no other process has the lock. Returns what ends it. */
async function lock(path: string): Promise<() => Promise<void>> {
  const own = `${hostname()} ${process.pid} ${randomUUID()}`
  const holder = () => readFile(path, 'utf8').catch(() => null)
  let seen: string | null = null
  let sinceMs = performance.now()
  for (;;) {
    try {
      const handle = await open(path, 'wx', NEW_MODE)
      await handle.writeFile(own)
      await handle.close()
      return async () => {
        if ((await holder()) === own) await rm(path, { force: true })
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const now = await holder()
    if (now !== seen) {
      seen = now
      sinceMs = performance.now()
    }
    const isAbandoned = hasEnded(now) || performance.now() - sinceMs > LOCK_MS_MAX
    if (isAbandoned && (await holder()) === now) await rm(path, { force: true })
    else await delay(LOCK_POLL_MS)
  }
}

/** Whether the process that holds the lock was one of this machine, and has ended. */
function hasEnded(holder: string | null): boolean {
  const [host, pid] = (holder ?? '').split(' ')
  if (host !== hostname() || !Number(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code)
}
