/** Reads contracts by id or by index key, and walks over them. Decoded contracts show which id and keys they have. */

import { bytesEqual } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { keysOf } from '@quorumscan/ledger'
import type { Contract, ContractId, LogPosition } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { decodeHead } from '../storage/head.ts'
import {
  BUCKETS,
  internedBytes,
  internKey,
  internText,
  lexBound,
  membersWith,
} from '../storage/intern.ts'
import { contractsKey, indexKey } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { type RangeReply, readContracts } from '../storage/scripts.ts'

/** A connection to a replica, and the replica's layout. */
export type Store = { readonly redis: Redis; readonly layout: Layout }

/** Contracts of an index key, or those after a member. */
export type KeyRange = {
  readonly key: string
  /** -1 for all. */
  readonly count: number
  readonly after?: Uint8Array | undefined
}

type KeyReply = {
  readonly contracts: readonly Contract[]
  /** The member after which to continue; undefined at the end. */
  readonly next?: Uint8Array | undefined
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
    byKey: keys.map((range, index) => replyOf(range, ranges[index] as RangeReply, layout)),
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
  const begin = after === undefined ? min : lexBound('(', after)
  return { key: indexKey(bucket), min: begin, max, count }
}

function replyOf({ key, count }: KeyRange, reply: RangeReply, { codec }: Layout): KeyReply {
  const found = reply.values.flatMap((bytes) => (bytes === null ? [] : [codec.decode(bytes)]))
  const contracts = found.filter((contract) => keysOf(contract).includes(key))
  const last = reply.members.at(-1)
  const isLast = count < 0 || reply.members.length < count
  return { contracts, next: isLast ? undefined : last }
}

/** Contracts per command: what Redis does without noticeable delay for others. */
const PORTION = 500
/** Buckets per round trip: some 800 contracts at 100 000 names. */
export const BUCKETS_READ = 8

/**
 * Contracts under an index key, in byte order of their ids, in portions, while the ledger changes. A contract that is
 * active during the whole walk is returned. One that is created or archived meanwhile may be returned or not. None is
 * returned twice.
 */
export async function* walkContractsByKey(
  store: Store,
  key: string,
  {
    limit = Number.POSITIVE_INFINITY,
    portion = PORTION,
  }: { readonly limit?: number; readonly portion?: number } = {},
): AsyncGenerator<readonly Contract[]> {
  let after: Uint8Array | undefined
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
  /** One list for each key, in the order asked, each in byte order of the contract ids. */
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
  while (open.length > 0) {
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
  }
  if (head === null) throw new ScanError('NOT_READY', 'The replica is empty.')
  const { offset, recordTime } = decodeHead(head)
  return { offset, recordTime, contracts: lists.map(({ contracts }) => contracts) }
}
