/**
 * Versions of names for lookups: what was read lately from memory, the rest from Redis.
 *
 * The memory is exact, not merely recent: a value is kept only if it was read at the very head that the
 * memory is known to be true at, ingest takes out what each of its writes touches before it says that the
 * memory is true at the next head, and nothing is read from it at offsets beyond. Lookups that miss it share
 * a command.
 */
import { setImmediate } from 'node:timers/promises'
import type { Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { decodeSpan } from '../storage/head.ts'
import { HEAD_FIELD, KEYS } from '../storage/keys.ts'

/** Fields of one command: 100 µs of Redis. */
const NAMES_PER_COMMAND_MAX = 512
/** What names in use need, a hundred thousand of them, beside the tens of megabytes of the process itself. */
const KEPT_BYTES_MAX = 32 * 2 ** 20
/** Of the map, the array and the strings of one value. */
const KEPT_OVERHEAD_BYTES = 256

/** Values of fields of the hash of names, and the head of the same moment. */
export type NameFields = {
  readonly head: Buffer | null | undefined
  readonly byName: ReadonlyMap<string, Buffer | null | undefined>
}

export function createNameReader(
  redis: Redis,
  options: {
    readonly keptBytesMax?: number
    /** Shown all that Redis answers. */
    readonly onRead?: (fields: NameFields) => void
  } = {},
) {
  const { keptBytesMax = KEPT_BYTES_MAX, onRead = () => {} } = options
  const kept = new LRUCache<string, { readonly value: Buffer | null }>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ value }, name) =>
      KEPT_OVERHEAD_BYTES + name.length + (value?.byteLength ?? 0),
  })
  /** The head at which all that is kept is true; before the first write nobody knows. */
  let trueAt: Offset = -1
  let open: { readonly names: Set<string>; readonly fields: Promise<NameFields> } | null = null

  const read = async (names: readonly string[]): Promise<NameFields> => {
    const [head, ...values] = await redis.hmgetBuffer(KEYS.names, HEAD_FIELD, ...names)
    const byName = new Map(names.map((name, index) => [name, values[index]]))
    onRead({ head, byName })
    return { head, byName }
  }

  const readAtEndOfTurn = async (names: Set<string>): Promise<NameFields> => {
    await setImmediate()
    if (open?.names === names) open = null
    const { head, byName } = await read([...names])
    // What was read at another head may have changed since, or be ahead of what ingest has told.
    if (head != null && decodeSpan(head).offset === trueAt)
      // A copy, as the value is a view into all that came with it.
      for (const [name, value] of byName)
        kept.set(name, { value: value == null ? null : Buffer.from(value) })
    return { head, byName }
  }

  return {
    /** Versions of the name that decide every read at the offset, null for none; undefined where Redis has to be asked. */
    known(name: string, at: Offset): Buffer | null | undefined {
      // The empty field is the head's.
      if (name === HEAD_FIELD) return null
      return at <= trueAt ? kept.get(name)?.value : undefined
    },
    /** Asks Redis. Rejects as its commands do. */
    fetch(asked: readonly string[]): Promise<NameFields> {
      if (open === null || open.names.size + asked.length > NAMES_PER_COMMAND_MAX) {
        const names = new Set<string>()
        open = { names, fields: readAtEndOfTurn(names) }
      }
      for (const name of asked) open.names.add(name)
      return open.fields
    },
    /** As `fetch`, of names of a page: in memory they would drive out those that are asked for one by one. */
    fetchOfPage: read,
    /** Ingest has written up to the head, and these names have changed; null where anything may have. */
    moveTo(head: Offset, touched: readonly string[] | null): void {
      if (touched === null) kept.clear()
      else for (const name of touched) kept.delete(name)
      trueAt = head
    },
  }
}

export type NameReader = ReturnType<typeof createNameReader>
