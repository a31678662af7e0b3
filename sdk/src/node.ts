/** What needs Node: a store in a file. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { invalidArgument } from './errors.ts'
import type { Store } from './platform/store.ts'

/**
 * Keeps values in one JSON file, replaced as a whole, so that a crash leaves the old or the new one. One
 * process at a time; the file is made when the first value is set.
 *
 * A file that is there and is no JSON object of texts is left as it is: all calls throw INVALID_ARGUMENT.
 */
export function createFileStore(path: string): Store {
  let values: Promise<Map<string, string>> | undefined
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
  const write = async (): Promise<void> => {
    const current = JSON.stringify(Object.fromEntries(await loaded()), null, 2)
    const draft = `${path}.${randomUUID()}.tmp`
    await mkdir(dirname(path), { recursive: true })
    await writeFile(draft, `${current}\n`, { mode: 0o600 })
    await rename(draft, path)
  }
  return {
    get: async (key) => (await loaded()).get(key) ?? null,
    async set(key, value) {
      const map = await loaded()
      if (map.get(key) === value) return
      map.set(key, value)
      // One write after the other; each takes all that was set until then.
      writing = writing.catch(() => {}).then(write)
      await writing
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
