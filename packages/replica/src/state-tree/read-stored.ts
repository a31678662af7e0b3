/** What is stored, in portions, each with the head of its moment. */
import { utf8 } from '@quorumscan/base'
import type { Redis } from 'ioredis'
import { lexBound } from '../storage/intern.ts'
import { HEAD_FIELD, KEYS } from '../storage/keys.ts'
import { readRanges } from '../storage/scripts.ts'

/** Versions of the names behind one, in byte order, at most `count`. */
export async function readNamesAfter(
  redis: Redis,
  after: string | null,
  count: number,
): Promise<{ readonly head: Buffer | null; readonly names: ReadonlyMap<string, Buffer | null> }> {
  const min = after === null ? utf8('-') : lexBound('(', utf8(after))
  const { head, replies } = await readRanges(redis, {
    members: 'lex',
    values: 'names',
    skip: 0,
    ranges: [{ min, max: utf8('+'), count }],
  })
  const { members = [], values = [] } = replies[0] ?? {}
  const names = members.map(
    (name, index) => [name.toString('utf8'), values[index] ?? null] as const,
  )
  return { head, names: new Map(names) }
}

/** Versions of all documents, by entity. */
export async function readAllDocuments(
  redis: Redis,
): Promise<{ readonly head: Buffer | null; readonly documents: Record<string, Buffer> }> {
  const reply = await redis
    .multi()
    .hgetBuffer(KEYS.names, HEAD_FIELD)
    .hgetallBuffer(KEYS.documents)
    .exec()
  const [head, documents] = (reply ?? []).map(([error, result]) => {
    if (error !== null) throw error
    return result
  })
  return { head: head as Buffer | null, documents: documents as Record<string, Buffer> }
}
