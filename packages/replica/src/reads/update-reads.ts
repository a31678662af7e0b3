/**
 * Reading the history of updates: ranges by offset in either order, in portions bounded by bytes, and single
 * updates by id or by a contract that they archived. A portion is of one moment: with the head, which tells
 * that the range is there, and with what was pruned.
 */
import { ScanError } from '@quorumscan/errors'
import type { ContractId, Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { PRUNED_FIELD, UPDATE_TAG_BYTES, updateTag } from '../ingest/plan-updates.ts'
import { decodeHead } from '../storage/head.ts'
import { membersWith } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { readUpdates } from '../storage/scripts.ts'
import { StoredUpdate } from '../storage/update-codec.ts'

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
       * In the order asked. What was read is decoded as it is walked, by each walk anew: a hundred decoded
       * updates that wait for their turn cost the collector of garbage more than decoding them.
       */
      readonly updates: Iterable<StoredUpdate>
      /** What remains of the range; null if nothing. */
      readonly rest: UpdateRange | null
    }
  /** The range begins before this offset, up to which the history was pruned. */
  | { readonly kind: 'pruned'; readonly upTo: Offset }

/** @throws {ScanError} NOT_READY if the replica does not reach so far, as after it was wiped. */
export async function readUpdatePortion(redis: Redis, range: UpdateRange): Promise<UpdatePortion> {
  const { after, upTo, order } = range
  const found = await reach(
    readUpdates(redis, {
      from: after + 1,
      to: upTo,
      order,
      bytes: range.bytes ?? PORTION_BYTES,
    }),
  )
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
}

/** What Redis holds of updates, each decoded when its turn comes. */
export function* decodeUpdates(
  entries: readonly { readonly id: Buffer; readonly bytes: Buffer }[],
): Generator<StoredUpdate, void, undefined> {
  for (const { id, bytes } of entries) yield new StoredUpdate(offsetOf(id), bytes)
}

/** The update with this id that was not pruned; null if there is none. */
export async function readUpdateById(redis: Redis, updateId: string): Promise<StoredUpdate | null> {
  return await findUpdate(redis, updateId, (update) => update.updateId === updateId)
}

/** The update that archived the contract; null if none did, or it was pruned. */
export async function readArchival(
  redis: Redis,
  contractId: ContractId,
): Promise<StoredUpdate | null> {
  return await findUpdate(redis, contractId, (update) => update.archivedIds().includes(contractId))
}

async function findUpdate(
  redis: Redis,
  id: string,
  isMeant: (update: StoredUpdate) => boolean,
): Promise<StoredUpdate | null> {
  const { min, max } = membersWith(updateTag(id))
  const members = await reach(
    redis.zrangeBuffer(KEYS.updateTags, Buffer.from(min), Buffer.from(max), 'BYLEX'),
  )
  for (const member of members) {
    const update = await readUpdateAt(redis, Number(member.toString('latin1', UPDATE_TAG_BYTES)))
    if (update !== null && isMeant(update)) return update
  }
  return null
}

/** The update of an offset; null if it has none or was pruned. */
export async function readUpdateAt(redis: Redis, offset: Offset): Promise<StoredUpdate | null> {
  const id = `${offset}-0`
  const [[, pruned], [, found]] = (await reach(
    redis
      .multi()
      .hget(KEYS.history, PRUNED_FIELD)
      .callBuffer('XRANGE', KEYS.updates, id, id)
      .exec(),
  )) as [[null, string | null], [null, [Buffer, [Buffer, Buffer]][]]]
  const bytes = found[0]?.[1][1]
  return bytes === undefined || offset <= Number(pruned ?? 0)
    ? null
    : new StoredUpdate(offset, bytes)
}

/** The offset after which the history begins. */
export async function readPrunedOffset(redis: Redis): Promise<Offset> {
  return Number((await reach(redis.hget(KEYS.history, PRUNED_FIELD))) ?? 0)
}

/** Of `<offset>-0`, without a text in between. */
function offsetOf(id: Buffer): Offset {
  let offset = 0
  for (let index = 0; index < id.length - '-0'.length; index++)
    offset = offset * 10 + (id[index] ?? 0) - DIGIT_ZERO
  return offset
}
