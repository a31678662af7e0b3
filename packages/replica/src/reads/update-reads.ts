/**
 * Reads the history of updates: ranges by offset in either order, in portions bounded by bytes, and single
 * updates by id or by a contract that they archived. A portion is read atomically together with the head, which
 * shows that the range was applied, and with the offset up to which the history was pruned.
 */
import { bufferOf } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Contract, ContractId, LogPosition, Offset, PartyId } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { ALL_ARCHIVALS, archivalIn, archivalRanges, archivalsOf } from '../storage/archivals.ts'
import { decodeHead } from '../storage/head.ts'
import { lexBound, membersWith } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import {
  ARCHIVALS_FIELD,
  PRUNED_FIELD,
  THROUGH_FIELD,
  UPDATE_TAG_BYTES,
  updateTag,
} from '../storage/plan-histories.ts'
import { readUpdates } from '../storage/scripts.ts'
import { StoredUpdate } from '../storage/update-codec.ts'
import type { Store } from './contracts.ts'

/** A portion ends with the update that exceeds this: some 500 of usual size, 10 ms of work. */
const PORTION_BYTES = 256 * 1024
const DIGIT_ZERO = 48
/** Lists of the index of archivals that are read at once, members of each, and updates. */
const RANGES_READ = 64
const ARCHIVALS_READ = 50
const UPDATES_READ = 16

export type UpdateRange = {
  readonly after: Offset
  readonly upTo: Offset
  readonly order: 'asc' | 'desc'
  /** Bytes after which the portion ends; default 256 KiB. */
  readonly bytes?: number
}

export type UpdatePortion =
  | {
      readonly kind: 'updates'
      /**
       * In the requested order. Each iteration decodes the updates again: a hundred decoded updates that wait in
       * memory cost the garbage collector more than decoding them.
       */
      readonly updates: Iterable<StoredUpdate>
      /** What remains of the range; null if nothing. */
      readonly rest: UpdateRange | null
    }
  /** The range begins before this offset, up to which the history was pruned. */
  | { readonly kind: 'pruned'; readonly upTo: Offset }

/** The updates that one write added to the history. */
export type HistoryStep = {
  /** The head before; null if the state was loaded again: then updates may be missing in between. */
  readonly after: Offset | null
  readonly head: LogPosition
  readonly updates: readonly StoredUpdate[]
}

/** Reads the history of updates. Each read is atomic. */
export function createUpdateHistory({ redis, layout }: Store) {
  /**
   * Reads the updates of the given offsets, and the pruned offset, atomically. Offsets without an update, and pruned ones,
   * are left out.
   */
  const updatesAt = async (offsets: readonly Offset[]) => {
    const transaction = redis.multi().hget(KEYS.history, PRUNED_FIELD)
    for (const offset of offsets)
      transaction.callBuffer('XRANGE', KEYS.updates, `${offset}-0`, `${offset}-0`)
    type Found = [Buffer, [Buffer, Buffer]][]
    const [field, ...found] = (await reach(execute(transaction))) as [string | null, ...Found[]]
    const pruned = Number(field ?? 0)
    const updates = offsets.flatMap((offset, index) => {
      const bytes = found[index]?.[0]?.[1][1]
      return bytes === undefined || offset <= pruned ? [] : [new StoredUpdate(offset, bytes)]
    })
    return { pruned, updates }
  }

  /** The update of an offset; null if it has none or was pruned. */
  const updateAt = async (offset: Offset): Promise<StoredUpdate | null> =>
    (await updatesAt([offset])).updates[0] ?? null

  const findUpdate = async (id: string, isMeant: (update: StoredUpdate) => boolean) => {
    const { min, max } = membersWith(updateTag(id))
    const members = await reach(redis.zrangeBuffer(KEYS.updateTags, min, max, 'BYLEX'))
    for (const member of members) {
      const update = await updateAt(Number(member.toString('latin1', UPDATE_TAG_BYTES)))
      if (update !== null && isMeant(update)) return update
    }
    return null
  }

  return {
    /**
     * A portion of the updates after an offset and up to another one, which must have been applied.
     *
     * @throws {ScanError} NOT_READY if the replica does not reach so far, as after it was wiped.
     */
    async updates(range: UpdateRange): Promise<UpdatePortion> {
      const { after, upTo, order, bytes = PORTION_BYTES } = range
      const found = await reach(readUpdates(redis, { from: after + 1, to: upTo, order, bytes }))
      if (found.head === null || decodeHead(found.head).offset < upTo)
        throw new ScanError('NOT_READY', 'The history of updates does not reach so far yet.')
      const pruned = Number(found.pruned ?? 0)
      if (after < pruned) return { kind: 'pruned', upTo: pruned }
      const updates = { [Symbol.iterator]: () => decodeUpdates(found.entries) }
      const last = found.entries.at(-1)
      if (!found.isCut || last === undefined) return { kind: 'updates', updates, rest: null }
      const offset = offsetOf(last.id)
      const rest = order === 'asc' ? { ...range, after: offset } : { ...range, upTo: offset - 1 }
      return { kind: 'updates', updates, rest: rest.after < rest.upTo ? rest : null }
    },
    /** @param updateId - `1220` and 64 hex digits. @returns null if no update has the id, or it was pruned. */
    updateById: (updateId: string) =>
      findUpdate(updateId, (update) => update.updateId === updateId),
    /** The update that archived the contract; null if none did, or it was pruned. */
    archivalOf: (id: ContractId) => findUpdate(id, (update) => update.archivedIds().includes(id)),
    updateAt,
    /** The offset after which updates and completions can be read; 0 if nothing was pruned. */
    prunedOffset: () => readPrunedOffset(redis),
    /** Contracts of earlier updates that the update archived, decoded from its bytes. */
    archivedContracts: (update: StoredUpdate) => archivedBy(update, layout),
    /**
     * Portions of the updates that archived contracts which were active at an offset, each update once. Only updates
     * up to the current end of the history are sure to be found.
     *
     * @param parties - Those of which one has a stake in the contract; null for all contracts.
     * @throws {ScanError} NOT_READY while the index is made.
     */
    async *archivalsAfter(
      parties: readonly PartyId[] | null,
      at: Offset,
    ): AsyncGenerator<{ readonly pruned: Offset; readonly updates: readonly StoredUpdate[] }> {
      const end = await readIndexedOffset(redis)
      const seen = new Set<Offset>()
      let open = (parties?.map(archivalsOf) ?? [ALL_ARCHIVALS]).flatMap((key) =>
        archivalRanges(key, at, end),
      )
      while (open.length > 0) {
        const portion = open.slice(0, RANGES_READ)
        const pipeline = redis.pipeline()
        for (const { key, min, max } of portion)
          pipeline.zrangeBuffer(
            key,
            bufferOf(min),
            bufferOf(max),
            'BYLEX',
            'LIMIT',
            0,
            ARCHIVALS_READ,
          )
        const replies = (await reach(execute(pipeline))) as Buffer[][]
        const rest = portion.flatMap((range, index) => {
          const last = replies[index]?.[ARCHIVALS_READ - 1]
          return last === undefined ? [] : [{ ...range, min: lexBound('(', last) }]
        })
        open = [...rest, ...open.slice(RANGES_READ)]
        const found = [...new Set(replies.flat().map(archivalIn))].filter((one) => !seen.has(one))
        for (let start = 0; start < found.length; start += UPDATES_READ) {
          const offsets = found.slice(start, start + UPDATES_READ)
          for (const offset of offsets) seen.add(offset)
          yield await updatesAt(offsets)
        }
      }
    },
  }
}

export type UpdateHistory = ReturnType<typeof createUpdateHistory>

/** Contracts of earlier updates that the update archived, decoded from its bytes. */
export function archivedBy(update: StoredUpdate, { codec }: Layout): readonly Contract[] {
  return update.archived().map((bytes) => codec.decode(bytes))
}

/** Decodes stored updates, each when it is requested. */
export function* decodeUpdates(
  entries: readonly { readonly id: Buffer; readonly bytes: Buffer }[],
): Generator<StoredUpdate, void, undefined> {
  for (const { id, bytes } of entries) yield new StoredUpdate(offsetOf(id), bytes)
}

/** The offset after which the history begins. */
export async function readPrunedOffset(redis: Redis): Promise<Offset> {
  return Number((await reach(redis.hget(KEYS.history, PRUNED_FIELD))) ?? 0)
}

/**
 * The end of the history, up to which the index of archivals is complete.
 *
 * @throws {ScanError} NOT_READY while the index is made, or if no history has begun.
 */
export async function readIndexedOffset(redis: Redis): Promise<Offset> {
  const fields = [THROUGH_FIELD, ARCHIVALS_FIELD] as const
  const [through, archivals] = await reach(redis.hmget(KEYS.history, ...fields))
  if (through == null || archivals !== through)
    throw new ScanError('NOT_READY', 'The index of archivals is being made.')
  return Number(through)
}

/** The offset in the stream id `<offset>-0`, without making a string of it. */
function offsetOf(id: Buffer): Offset {
  let offset = 0
  for (let index = 0; index < id.length - '-0'.length; index++)
    offset = offset * 10 + (id[index] ?? 0) - DIGIT_ZERO
  return offset
}
