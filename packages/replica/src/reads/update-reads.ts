/**
 * Reads the history of updates: ranges by offset in either order, in portions bounded by bytes, and single
 * updates by id or by a contract that they archived. A portion is read atomically together with the head, which
 * shows that the range was applied, and with the offset up to which the history was pruned.
 */
import { ScanError } from '@quorumscan/errors'
import type { Contract, ContractId, LogPosition, Offset } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { PRUNED_FIELD, UPDATE_TAG_BYTES, updateTag } from '../ingest/plan-histories.ts'
import { decodeHead } from '../storage/head.ts'
import { membersWith } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { readUpdates } from '../storage/scripts.ts'
import { StoredUpdate } from '../storage/update-codec.ts'
import type { Store } from './contracts.ts'

/** A portion ends with the update that exceeds this: some 500 of usual size, 10 ms of work. */
const PORTION_BYTES = 256 * 1024
const DIGIT_ZERO = 48

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
  /** The update of an offset; null if it has none or was pruned. */
  const updateAt = async (offset: Offset): Promise<StoredUpdate | null> => {
    const id = `${offset}-0`
    const transaction = redis.multi().hget(KEYS.history, PRUNED_FIELD)
    transaction.callBuffer('XRANGE', KEYS.updates, id, id)
    type Reply = [pruned: string | null, found: [Buffer, [Buffer, Buffer]][]]
    const [pruned, found] = (await reach(execute(transaction))) as Reply
    const bytes = found[0]?.[1][1]
    return bytes === undefined || offset <= Number(pruned ?? 0)
      ? null
      : new StoredUpdate(offset, bytes)
  }

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
    archivedContracts: (update: StoredUpdate): readonly Contract[] =>
      update.archived().map((bytes) => layout.codec.decode(bytes)),
  }
}

export type UpdateHistory = ReturnType<typeof createUpdateHistory>

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

/** The offset in the stream id `<offset>-0`, without making a string of it. */
function offsetOf(id: Buffer): Offset {
  let offset = 0
  for (let index = 0; index < id.length - '-0'.length; index++)
    offset = offset * 10 + (id[index] ?? 0) - DIGIT_ZERO
  return offset
}
