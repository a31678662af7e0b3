/** Parts that need Node: a store in a file. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { invalidArgument } from './errors.ts'
import { parseJson } from './http/http-failures.ts'
import type { Store } from './platform/store.ts'

/**
 * Stores values in one JSON file, which is replaced as a whole, so that a crash leaves the old or the new file. Only one
 * process may use it at a time. The first `set` creates the file. A `set` that fails rejects with the error of the file
 * system, and `get` still returns the values of the file. Values set during a write are written together after it.
 *
 * An existing file that is not a JSON object of strings is not changed: all calls throw INVALID_ARGUMENT.
 *
 * @example createScan({ ...network, store: createFileStore('wallet.json') })
 */
export function createFileStore(path: string): Store {
  /** The values of the file. */
  let values: Promise<Map<string, string>> | undefined
  /** Values that the next write adds; undefined once it has begun. */
  let changes: Map<string, string> | undefined
  let writing: Promise<void> = Promise.resolve()
  const load = async (): Promise<Map<string, string>> => {
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return new Map()
      throw error
    }
    const document = parseJson(text)
    const entries = Object.entries(Object(document))
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    if (!isObject || !entries.every(([, value]) => typeof value === 'string'))
      throw invalidArgument(`${path} is not a store of the SDK.`)
    return new Map(entries as [string, string][])
  }
  const loaded = (): Promise<Map<string, string>> => {
    values ??= load().catch((error: unknown) => {
      values = undefined // The next call tries again.
      throw error
    })
    return values
  }
  const write = async (added: ReadonlyMap<string, string>): Promise<void> => {
    const before = await loaded()
    if ([...added].every(([key, value]) => before.get(key) === value)) return
    const after = new Map([...before, ...added])
    const draft = `${path}.${randomUUID()}.tmp`
    await mkdir(dirname(path), { recursive: true })
    try {
      const text = JSON.stringify(Object.fromEntries(after), null, 2)
      await writeFile(draft, `${text}\n`, { mode: 0o600 })
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
    values = Promise.resolve(after)
  }
  return {
    get: async (key) => (await loaded()).get(key) ?? null,
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
