/** What needs Node: a store in a file. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { invalidArgument } from './errors.ts'
import type { Store } from './platform/store.ts'

/**
 * Keeps values in one JSON file, replaced as a whole, so that a crash leaves the old or the new one. One
 * process at a time; the file is made when the first value is set. A `set` that fails rejects with the error of the
 * file system, and `get` returns what the file has. Values that are set during a write are written together after it.
 *
 * A file that is there and is no JSON object of texts is left as it is: all calls throw INVALID_ARGUMENT.
 */
export function createFileStore(path: string): Store {
  /** As the file has them. */
  let values: Promise<Map<string, string>> | undefined
  /** What the next write adds, as long as it has not begun. */
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
    const document = parse(text)
    const isTexts =
      typeof document === 'object' &&
      document !== null &&
      !Array.isArray(document) &&
      Object.values(document).every((value) => typeof value === 'string')
    if (!isTexts) throw invalidArgument(`${path} is no store.`)
    return new Map(Object.entries(document as Record<string, string>))
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

/** null: it is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
