/**
 * Makes the records of a snapshot at a recent offset from the present state while ingest continues. Contracts have the
 * offset of their creation, and `ChangeRecorder` has what was archived meanwhile. Portions are small: neither Redis nor
 * this process may delay other requests.
 */

import { ByteWriter, held, toHex } from '@quorumscan/base'
import type { ChangeRecord, ContractCodec } from '@quorumscan/ledger'
import type { Offset, PartyId } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Genesis } from '@quorumscan/verifier'
import { expiredUntil } from '../reads/activity-reads.ts'
import { BUCKETS_READ, type Store } from '../reads/contracts.ts'
import { readAllDocuments } from '../reads/reads.ts'
import { decodeActivity, offsetText, treeIndexOf } from '../storage/activity-member.ts'
import { readTilesBefore } from '../storage/activity-tiles.ts'
import { decodeChange } from '../storage/change-records.ts'
import { decodeSpan } from '../storage/head.ts'
import { readHeadBytes } from '../storage/head-reads.ts'
import { BUCKETS, internContractId, lexBound } from '../storage/intern.ts'
import { contractsKey, KEYS } from '../storage/keys.ts'
import { byMember, byScore } from '../storage/sorted-sets.ts'
import type { Step } from '../storage/step.ts'
import { contractsAt } from '../storage/versions.ts'
import { type SnapshotHead, type SnapshotRecord, writeRecord } from './records.ts'

/** Members of a set, or rows of the history, per command: 1 ms of Redis. */
const PORTION = 1_000
/** Rows have 1 kB each. */
const ROWS = 200
/** The stored state does not contain the state at the offset, or no longer. */
export class StateNotStoredError extends Error {
  override readonly name = 'StateNotStoredError'
}

type SnapshotSource = {
  readonly store: Store
  readonly head: SnapshotHead
  readonly recorder: ChangeRecorder
  readonly genesis: Genesis
  /** Aborts the snapshot. */
  readonly signal: AbortSignal
}

/**
 * The bytes of the snapshot, in portions.
 *
 * @throws {StateNotStoredError} If Redis lost the offset, or is empty.
 */
export function encodeSnapshot(source: SnapshotSource): AsyncGenerator<Uint8Array> {
  // Read now: the clean-up deletes documents that the horizon passes before the rest is read.
  const documents = readDocuments(source)
  documents.catch(() => {}) // `encodeRecords` awaits it and throws the error.
  return encodeRecords(source, documents)
}

async function* encodeRecords(
  source: SnapshotSource,
  documents: Promise<readonly SnapshotRecord[]>,
) {
  const { head } = source
  let count = 0
  const encoded = (records: Iterable<SnapshotRecord>): Uint8Array => {
    const writer = new ByteWriter()
    for (const record of records) {
      writeRecord(writer, record)
      count++
    }
    return writer.finish()
  }
  yield encoded([{ kind: 'head', head }, ...(await documents)])
  for (const section of [parties, changes, seen, contracts, activities])
    for await (const records of section(source)) {
      await assertStored(source)
      yield encoded(records)
    }
  yield encoded([{ kind: 'end', count }])
  source.signal.throwIfAborted()
}

type Records = AsyncGenerator<readonly SnapshotRecord[]>

/** A Redis that lost its last seconds may have lost the offset. */
async function assertStored({ store, head, signal }: SnapshotSource): Promise<void> {
  signal.throwIfAborted()
  const stored = await readHeadBytes(store.redis)
  if (stored === null || decodeSpan(stored).offset < head.offset)
    throw new StateNotStoredError('the state of the offset is not stored any more')
}

async function readDocuments({ store, head }: SnapshotSource): Promise<readonly SnapshotRecord[]> {
  const { head: stored, documents } = await readAllDocuments(store.redis)
  if (stored === null || decodeSpan(stored).horizon > head.offset)
    throw new StateNotStoredError('the horizon has passed the offset')
  return [...contractsAt(documents, head.offset, store.layout)]
    .filter(([, contracts]) => contracts.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([entity, active]) => {
      return { kind: 'documents', entity, ids: active.map(({ contractId }) => contractId) }
    })
}

async function* parties({ store, recorder }: SnapshotSource): Records {
  for await (const members of byMember(store.redis, KEYS.hosted, { min: '-', max: '+' }, PORTION))
    yield members
      .map((member) => member.toString('utf8'))
      .filter((party) => !recorder.isAllocated(party))
      .map((party) => ({ kind: 'party', party }))
}

type Change = { readonly id: Buffer; readonly record: ChangeRecord }

/** Change records by expiry, then by id. A record that is replaced meanwhile keeps its place. */
async function* changes({ store, head, recorder }: SnapshotSource): Records {
  const isAfter = (a: Change, b: Change | null) => b === null || compareChanges(a, b) > 0
  let last: Change | null = null
  const replacedUpTo = (end: Change | null): Change[] =>
    [...recorder.replacedChanges()]
      .map(([id, record]) => ({ id: Buffer.from(id, 'hex'), record }))
      .filter(({ record }) => record.until > head.recordTime)
      .filter((one) => isAfter(one, last) && (end === null || !isAfter(one, end)))
  const recordsOf = (found: readonly Change[], end: Change | null): SnapshotRecord[] => {
    const then = found.filter(({ record }) => record.offset <= head.offset)
    const byId = new Map([...then, ...replacedUpTo(end)].map((one) => [toHex(one.id), one]))
    last = end
    return [...byId.values()].sort(compareChanges).map((one) => ({ kind: 'change', ...one }))
  }
  for await (const members of byScore(store.redis, KEYS.changesUntil, head.recordTime, PORTION)) {
    const ids = members.map(({ member }) => member)
    const values: (Buffer | null)[] = []
    for (let start = 0; start < ids.length; start += PORTION)
      values.push(
        ...(await store.redis.hmgetBuffer(KEYS.changes, ...ids.slice(start, start + PORTION))),
      )
    const end = members.at(-1)
    const found = ids.flatMap((id, index) => {
      const value = values[index]
      return value == null ? [] : [{ id, record: decodeChange(value) }]
    })
    if (end !== undefined)
      yield recordsOf(found, { id: end.member, record: { ...NO_CHANGE, until: end.score } })
  }
  yield recordsOf([], null)
}

const NO_CHANGE = { offset: 0, recordTime: 0, submissionId: '' }

function compareChanges(a: Change, b: Change): number {
  return a.record.until - b.record.until || Buffer.compare(a.id, b.id)
}

async function* seen({ store, head, recorder }: SnapshotSource): Records {
  for await (const members of byScore(store.redis, KEYS.seen, head.recordTime, PORTION))
    yield members
      .filter(({ member }) => !recorder.isSeen(toHex(member)))
      .map(({ member, score }) => ({ kind: 'seen', id: member, until: score }))
}

/** In the order of their ids. */
async function* contracts({ store, head, recorder }: SnapshotSource): Records {
  const { redis, layout } = store
  for (let start = 0; start < BUCKETS.length; start += BUCKETS_READ) {
    const buckets = BUCKETS.slice(start, start + BUCKETS_READ)
    const pipeline = redis.pipeline()
    for (const bucket of buckets) pipeline.callBuffer('HGETALL', contractsKey(bucket))
    const replies = (await execute(pipeline)) as Buffer[][]
    yield buckets.flatMap((bucket, index) => {
      const byRest = new Map(recorder.takeArchived(bucket))
      const flat = replies[index] ?? []
      for (let at = 0; at + 1 < flat.length; at += 2) {
        const bytes = flat[at + 1] as Buffer
        if (layout.codec.offsetOf(bytes) <= head.offset)
          byRest.set(toHex(flat[at] as Buffer), bytes)
      }
      return [...byRest]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, bytes]) => ({ kind: 'contract' as const, bytes }))
    })
  }
}

/** The newest row that has expired, and all rows after it; before them the hashes of the tree before that row. */
async function* activities({ store, head, genesis }: SnapshotSource): Records {
  const { redis } = store
  const until = expiredUntil(genesis, head.recordTime)
  const max = lexBound('(', Buffer.from(offsetText(head.offset + 1)))
  let min: Buffer | string = '-'
  if (until !== null) {
    const times = KEYS.activityTimes
    const [kept] = await redis.zrangebyscoreBuffer(times, `(${until}`, '+inf', 'LIMIT', 0, 1)
    const end = kept === undefined ? max : lexBound('(', kept)
    const [gone] = await redis.zrevrangebylexBuffer(KEYS.activities, end, '-', 'LIMIT', 0, 1)
    if (gone !== undefined) min = lexBound('[', gone)
    else if (kept !== undefined) min = lexBound('[', kept)
  }
  let isFirst = true
  for await (const members of byMember(redis, KEYS.activities, { min, max }, ROWS)) {
    const [first] = members
    if (isFirst && first !== undefined) {
      const tiles = await readTilesBefore(redis, treeIndexOf(decodeActivity(first)))
      yield tiles.map((tile) => ({ kind: 'tile', ...tile }))
    }
    isFirst = false
    yield members.map((bytes) => ({ kind: 'activity', bytes }))
  }
}

/** The most changes to remember, about 1 KiB each. A snapshot that takes longer is abandoned. */
const REMEMBERED_MAX = 200_000

/** Records the changes after the offset of a snapshot while its records are made. */
export function createChangeRecorder(offset: Offset, codec: Pick<ContractCodec, 'encode'>) {
  const archivedByBucket = held(
    {
      owner: 'replica',
      name: 'changed parts of contracts during a snapshot',
      kind: 'work',
      bound: REMEMBERED_MAX,
    },
    new Map<string, Map<string, Uint8Array>>(),
  )
  const replaced = held(
    {
      owner: 'replica',
      name: 'replaced records during a snapshot',
      kind: 'work',
      bound: REMEMBERED_MAX,
    },
    new Map<string, ChangeRecord>(),
  )
  const seen = held(
    {
      owner: 'replica',
      name: 'seen entries during a snapshot',
      kind: 'work',
      bound: REMEMBERED_MAX,
    },
    new Set<string>(),
  )
  const allocated = held(
    {
      owner: 'replica',
      name: 'new parties during a snapshot',
      kind: 'work',
      bound: REMEMBERED_MAX,
    },
    new Set<PartyId>(),
  )
  let remembered = 0

  return {
    /** False if there are too many changes. */
    add({ delta, replacedChanges = [] }: Step): boolean {
      for (const contract of delta.archived) {
        if (contract.offset > offset) continue
        const { bucket, rest } = internContractId(contract.contractId)
        const archived = archivedByBucket.get(bucket) ?? new Map<string, Uint8Array>()
        archivedByBucket.set(bucket, archived)
        archived.set(toHex(rest), codec.encode(contract))
        remembered++
      }
      for (const { id, record } of replacedChanges) {
        if (record.offset > offset) continue
        replaced.set(id, record)
        remembered++
      }
      if (delta.seen !== null) seen.add(delta.seen.id)
      for (const party of delta.allocated) allocated.add(party)
      remembered += 1 + delta.allocated.length
      return remembered <= REMEMBERED_MAX
    },
    /** Archived contracts of a bucket: rest of the id in hex -> stored form. Returns each contract once. */
    takeArchived(bucket: string): ReadonlyMap<string, Uint8Array> {
      const archived = archivedByBucket.get(bucket) ?? new Map()
      archivedByBucket.delete(bucket)
      return archived
    },
    /** Change records that were replaced, by the id of the change in hex. */
    replacedChanges: (): ReadonlyMap<string, ChangeRecord> => replaced,
    /** @param id - Of an entry, hex. */
    isSeen: (id: string) => seen.has(id),
    isAllocated: (party: PartyId) => allocated.has(party),
  }
}

export type ChangeRecorder = ReturnType<typeof createChangeRecorder>
