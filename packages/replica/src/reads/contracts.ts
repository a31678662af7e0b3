/** Reads contracts by id or by index key, and walks over them. Decoded contracts show which id and keys they have. */

import { bytesEqual, concatBytes, mapInTurns } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { amountsOf, keysOf, type Total } from '@quorumscan/ledger'
import type { Contract, ContractId, LogPosition } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { decodeHead } from '../storage/head.ts'
import { readWithHead } from '../storage/head-reads.ts'
import {
  BUCKETS,
  INDEX_TAG_BYTES,
  internedBytes,
  internKey,
  internText,
  internTotal,
  lexBound,
  membersWith,
} from '../storage/intern.ts'
import { contractsKey, indexKey, totalsKey } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { type RangeReply, readContracts } from '../storage/scripts.ts'
import { decodeTotal } from '../storage/totals.ts'

/** A connection to a replica, and the replica's layout. */
export type Store = { readonly redis: Redis; readonly layout: Layout }

/** A position in a list of contracts (`order.ts`): the bytes of a member after the tag of its key. */
export type Position = Uint8Array

/** Contracts of an index key, or those after a position. */
export type KeyRange = {
  readonly key: string
  /** -1 for all. */
  readonly count: number
  readonly after?: Position | undefined
}

type KeyReply = {
  readonly contracts: readonly Contract[]
  /** One for each contract. */
  readonly positions: readonly Position[]
  /** The position after which to continue; undefined at the end. */
  readonly next?: Position | undefined
}

/** Atomically: the head's bytes and contracts in the requested order; null for an id without an active contract. */
export async function readActiveContracts(
  { redis, layout }: Store,
  query: { readonly ids?: readonly ContractId[]; readonly keys?: readonly KeyRange[] },
) {
  const { ids = [], keys = [] } = query
  const asked = { ids: ids.map(shortId), ranges: keys.map(rangeOf) }
  const { head, contracts, ranges } = await readContracts(redis, asked)
  return {
    head,
    byId: ids.map((id, index) => {
      const bytes = contracts[index] ?? null
      const contract = bytes === null ? null : layout.codec.decode(bytes)
      return contract?.contractId === id ? contract : null
    }),
    byKey: await Promise.all(
      keys.map((range, index) => replyOf(range, ranges[index] as RangeReply, layout)),
    ),
  }
}

// A text that is not a contract id is read as an empty id, which no contract has.
function shortId(id: ContractId): Uint8Array {
  const interned = internText(id)
  return interned === undefined ? new Uint8Array(0) : internedBytes(interned)
}

function rangeOf({ key, count, after }: KeyRange) {
  const { bucket, rest } = internKey(key)
  const { min, max } = membersWith(rest)
  const begin = after === undefined ? min : lexBound('(', concatBytes([rest, after]))
  return { key: indexKey(bucket), min: begin, max, count }
}

async function replyOf(
  { key, count }: KeyRange,
  reply: RangeReply,
  { codec }: Layout,
): Promise<KeyReply> {
  const contracts: Contract[] = []
  const positions: Position[] = []
  const listed = await mapInTurns(reply.values, (bytes) => {
    const contract = bytes === null ? null : codec.decode(bytes)
    return contract !== null && isListed(contract, key) ? contract : null
  })
  for (const [index, contract] of listed.entries()) {
    if (contract === null) continue
    contracts.push(contract)
    positions.push((reply.members[index] as Buffer).subarray(INDEX_TAG_BYTES))
  }
  const last = reply.members.at(-1)?.subarray(INDEX_TAG_BYTES)
  const isLast = count < 0 || reply.members.length < count
  return { contracts, positions, next: isLast ? undefined : last }
}

// Two keys may have the same tag.
function isListed(contract: Contract, key: string): boolean {
  return keysOf(contract).includes(key) || amountsOf(contract).some((entry) => entry.key === key)
}

/** Contracts per command: what Redis does without noticeable delay for others. */
const PORTION = 500
/** Keys whose contracts are read together: those of two parties. */
const KEYS_READ = 40
/** Buckets per round trip: some 800 contracts at 100 000 names. */
export const BUCKETS_READ = 8

/**
 * Contracts under an index key in its order, in portions, while the ledger changes. A contract that is active during the
 * whole walk is returned. One that is created or archived meanwhile may be returned or not. None is returned twice.
 */
export async function* walkContractsByKey(
  store: Store,
  key: string,
  options: {
    readonly limit?: number
    readonly portion?: number
    /** Begins after a position. */
    readonly from?: Position | undefined
  } = {},
): AsyncGenerator<readonly Contract[]> {
  const { limit = Number.POSITIVE_INFINITY, portion = PORTION, from } = options
  let after = from
  let rest = limit
  do {
    const range = { key, count: Math.min(rest, portion, PORTION), after }
    const [reply] = (await reach(readActiveContracts(store, { keys: [range] }))).byKey
    const contracts = reply?.contracts ?? []
    rest -= contracts.length
    yield contracts
    after = reply?.next
  } while (after !== undefined && rest > 0)
}

/**
 * As `walkContractsByKey`, under several keys, which are read together: contracts of most keys are few. A contract under two
 * keys is returned twice.
 */
export async function* walkContractsByKeys(
  store: Store,
  keys: readonly string[],
  options: { readonly portion: number; readonly from?: Position | undefined },
): AsyncGenerator<readonly Contract[]> {
  let open = keys.map((key) => ({ key, after: options.from }))
  while (open.length > 0) {
    const lists = open.slice(0, KEYS_READ)
    const count = Math.max(1, Math.floor(Math.min(options.portion, PORTION) / lists.length))
    const ranges = lists.map((list) => ({ ...list, count }))
    const { byKey } = await reach(readActiveContracts(store, { keys: ranges }))
    yield byKey.flatMap(({ contracts }) => contracts)
    const rest = lists.flatMap(({ key }, index) => {
      const after = byKey[index]?.next
      return after === undefined ? [] : [{ key, after }]
    })
    open = [...rest, ...open.slice(KEYS_READ)]
  }
}

/** A page of one or more lists. */
export type ListPage = {
  readonly contracts: readonly Contract[]
  /** The position after which the next page begins; undefined at the end. */
  readonly next?: Position | undefined
}

/**
 * A page of the contracts under any of the keys, in the order of the keys' index, read atomically. A contract under two
 * keys appears once.
 *
 * @param page.after - The position where the last page ended; undefined for the first page.
 * @param page.limit - Contracts of the page at most; at least 1.
 */
export async function readListPage(
  store: Store,
  keys: readonly string[],
  page: { readonly after?: Position | undefined; readonly limit: number },
): Promise<ListPage> {
  const { after, limit } = page
  const ranges = keys.map((key) => ({ key, count: limit + 1, after }))
  const { byKey } = await reach(readActiveContracts(store, { keys: ranges }))
  // Beyond the end of the shortest list that was cut, contracts of this list are missing.
  const [end] = byKey.flatMap(({ next }) => next ?? []).toSorted(Buffer.compare)
  const found = new Map<ContractId, { readonly contract: Contract; readonly position: Position }>()
  for (const { contracts, positions } of byKey)
    for (const [index, contract] of contracts.entries()) {
      const position = positions[index] as Position
      if (end === undefined || Buffer.compare(position, end) <= 0)
        found.set(contract.contractId, { contract, position })
    }
  const sorted = [...found.values()].sort((a, b) => Buffer.compare(a.position, b.position))
  const shown = sorted.slice(0, limit)
  return {
    contracts: shown.map(({ contract }) => contract),
    next: sorted.length > limit ? shown.at(-1)?.position : end,
  }
}

/** The totals of lists by amount, read at one head. */
export async function readTotalsAtHead(
  { redis }: Store,
  keys: readonly string[],
): Promise<readonly Total[]> {
  const reading = readWithHead<(Buffer | null)[]>(redis, (transaction) => {
    for (const key of keys) {
      const { bucket, rest } = internTotal(key)
      transaction.hgetBuffer(totalsKey(bucket), Buffer.from(rest))
    }
  })
  const { head, replies } = await reach(reading)
  if (head === null) throw new ScanError('NOT_READY', 'The replica is empty.')
  return replies.map(decodeTotal)
}

/** Every contract, bucket by bucket. As `walkContractsByKey`. */
export async function* walkContracts({ redis, layout }: Store) {
  for (let start = 0; start < BUCKETS.length; start += BUCKETS_READ) {
    const pipeline = redis.pipeline()
    for (const bucket of BUCKETS.slice(start, start + BUCKETS_READ))
      pipeline.hvalsBuffer(contractsKey(bucket))
    const replies = (await reach(execute(pipeline))) as Buffer[][]
    yield replies.flat().map((bytes) => layout.codec.decode(bytes))
  }
}

/** Contracts of a key in one script: some 4 ms of Redis. */
const JOINED_PORTION = 2_000
/** A read of more than a portion starts again when the head moves. The head moves every 10 ms at most. */
const ATTEMPTS_MAX = 10

/** Contracts, and the head at which they were read. */
export type JoinedContracts = LogPosition & {
  /** One list for each key, in the order asked, each with the newest contracts first. */
  readonly contracts: readonly (readonly Contract[])[]
}

/**
 * @param limit - Contracts of each key at most.
 * @param portion - Contracts of each key in one script. If no key has more, one read is enough.
 * @throws {ScanError} OVERLOADED if a key has more than a portion and the head moved during each attempt.
 */
export async function readJoinedContracts(
  store: Store,
  keys: readonly string[],
  limit: number,
  portion = JOINED_PORTION,
): Promise<JoinedContracts> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const found = await readAll(store, keys, limit, portion)
    if (found !== null) return found
  }
  throw headMoved('read these contracts')
}

/** @param what - What could not be done at one head. */
export function headMoved(what: string): ScanError {
  const message = `The head moved during every attempt to ${what}. Try again.`
  return new ScanError('OVERLOADED', message, { retryAfterSeconds: 1 })
}

/** Null if the head moved between two portions. Every batch changes its bytes. */
async function readAll(
  store: Store,
  keys: readonly string[],
  limit: number,
  portion: number,
): Promise<JoinedContracts | null> {
  const lists = keys.map((key) => ({
    key,
    contracts: [] as Contract[],
    after: undefined as Uint8Array | undefined,
  }))
  /** The lists that are not read to the end. */
  let open = lists
  let head: Buffer | null = null
  do {
    const ranges = open.map(({ key, contracts, after }) => {
      const count = Math.min(portion, limit - contracts.length)
      return { key, count, after }
    })
    const reply = await reach(readActiveContracts(store, { keys: ranges }))
    if (head !== null && reply.head !== null && !bytesEqual(head, reply.head)) return null
    head = reply.head
    for (const [index, list] of open.entries()) {
      const part = reply.byKey[index]
      list.contracts.push(...(part?.contracts ?? []))
      list.after = part?.next
    }
    open = open.filter(({ after, contracts }) => after !== undefined && contracts.length < limit)
  } while (open.length > 0)
  if (head === null) throw new ScanError('NOT_READY', 'The replica is empty.')
  const { offset, recordTime } = decodeHead(head)
  return { offset, recordTime, contracts: lists.map(({ contracts }) => contracts) }
}
