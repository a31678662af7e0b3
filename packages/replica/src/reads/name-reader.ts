/**
 * Versions of names for lookups, from a cache or from Redis. Lookups that miss the cache share a command.
 *
 * The cache is exact. A value is stored only if it was read at the head for which the cache is valid. Ingest removes
 * the names that a write touches before it declares the cache valid for the next head. The cache is not used for
 * newer offsets.
 */
import { setImmediate } from 'node:timers/promises'
import { bytesOfCache, held } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { decodeSpan } from '../storage/head.ts'
import { HEAD_FIELD, KEYS } from '../storage/keys.ts'

/** Fields of one command: 100 µs of Redis. */
const NAMES_PER_COMMAND_MAX = 512
/** Enough for a hundred thousand names in use. The process itself uses tens of megabytes. */
const CACHE_BYTES_MAX = 32 * 2 ** 20
/** Memory of the map, the array and the strings of one value. */
const CACHE_OVERHEAD_BYTES = 256

/** Values of fields of the hash of names, read atomically with the head. */
export type NameFields = {
  readonly head: Buffer | null | undefined
  readonly byName: ReadonlyMap<string, Buffer | null | undefined>
}

export function createNameReader(
  redis: Redis,
  options: {
    readonly cacheBytesMax?: number
    /** Receives all values that Redis returns. */
    readonly onRead?: (fields: NameFields) => void
  } = {},
) {
  const { cacheBytesMax = CACHE_BYTES_MAX, onRead = () => {} } = options
  const cached = held(
    { owner: 'replica', name: 'bytes of cached names', kind: 'cache', bound: cacheBytesMax },
    new LRUCache<string, { readonly value: Buffer | null }>({
      maxSize: cacheBytesMax,
      sizeCalculation: ({ value }, name) =>
        CACHE_OVERHEAD_BYTES + name.length + (value?.byteLength ?? 0),
    }),
    bytesOfCache,
  )
  /** The head for which the cache is valid; −1 before the first write. */
  let validAt: Offset = -1
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
    // A value of another head may have changed since, or be newer than the head that ingest reported.
    if (head != null && decodeSpan(head).offset === validAt)
      // A copy: the value is a view into the whole reply.
      for (const [name, value] of byName)
        cached.set(name, { value: value == null ? null : Buffer.from(value) })
    return { head, byName }
  }

  return {
    /** Versions of the name that decide every read at the offset, null for none; undefined if they must be read from Redis. */
    known(name: string, at: Offset): Buffer | null | undefined {
      // The empty field is the head's.
      if (name === HEAD_FIELD) return null
      return at <= validAt ? cached.get(name)?.value : undefined
    },
    /** Reads from Redis. Rejects as its commands do. */
    fetch(asked: readonly string[]): Promise<NameFields> {
      if (open === null || open.names.size + asked.length > NAMES_PER_COMMAND_MAX) {
        const names = new Set<string>()
        open = { names, fields: readAtEndOfTurn(names) }
      }
      for (const name of asked) open.names.add(name)
      return open.fields
    },
    /** As `fetch`, without caching: the names of a page would evict those of single lookups. */
    fetchOfPage: read,
    /** Ingest has written up to the head, and these names have changed; null: any name may have. */
    moveTo(head: Offset, touched: readonly string[] | null): void {
      if (touched === null) cached.clear()
      else for (const name of touched) cached.delete(name)
      validAt = head
    },
  }
}

export type NameReader = ReturnType<typeof createNameReader>
