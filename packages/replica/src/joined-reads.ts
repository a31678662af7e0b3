/** Active contracts of several index keys, all of one moment: what a join over them needs. */
import { bytesEqual } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Contract, Micros, Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { reach } from './connection.ts'
import { unpackContract } from './contract-packing.ts'
import { decodeHead } from './head.ts'
import { lexBound, membersWith, TAG_BYTES, tagOf } from './intern.ts'
import { type Range, type RangeReply, readRanges } from './scripts.ts'

/** Contracts of a key in one script: some 3 ms of Redis, and half of what Lua can unpack. */
const PORTION = 4_000
/** Reads of more than a portion begin anew when the head moves; it moves every 10 ms at most. */
const ATTEMPTS_MAX = 10

export type JoinedContracts = {
  /** The newest applied offset at that moment, and its record time. */
  readonly offset: Offset
  readonly recordTime: Micros
  /** One list for each key, in the order asked, each in byte order of the contract ids. */
  readonly contracts: readonly (readonly Contract[])[]
}

type Bounds = {
  /** Contracts of each key at most. */
  readonly limit: number
  /** Contracts of each key in one script; what all of them fit in is read at once. */
  readonly portion?: number
}

/** @throws {ScanError} OVERLOADED if a key has more than a portion and the head never stood still meanwhile. */
export async function readJoinedContracts(
  redis: Redis,
  keys: readonly string[],
  { limit, portion = PORTION }: Bounds,
): Promise<JoinedContracts> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const found = await readAll(redis, keys, { limit, portion })
    if (found !== null) return found
  }
  throw new ScanError('OVERLOADED', 'The ledger moves on faster than so many contracts are read.', {
    retryAfterSeconds: 1,
  })
}

/** Null if the head moved between two portions: every batch changes its bytes. */
async function readAll(
  redis: Redis,
  keys: readonly string[],
  { limit, portion }: Required<Bounds>,
): Promise<JoinedContracts | null> {
  const contracts: Contract[][] = keys.map(() => [])
  let open = keys.map((key, index) => ({ index, ...membersWith(tagOf(key)) }))
  let head: Buffer | null = null
  while (open.length > 0) {
    const ranges = open.map(({ index, min, max }): Range => {
      const count = Math.min(portion, limit - (contracts[index] as Contract[]).length)
      return { min, max, count }
    })
    const query = { members: 'index', values: 'contracts', skip: TAG_BYTES, ranges } as const
    const reply = await reach(readRanges(redis, query))
    if (head !== null && reply.head !== null && !bytesEqual(head, reply.head)) return null
    head = reply.head
    open = open.flatMap(({ index, max }, i) => {
      const { members, values } = reply.replies[i] as RangeReply
      const list = contracts[index] as Contract[]
      for (const value of values) if (value !== null) list.push(unpackContract(value))
      const last = members.at(-1)
      const isWhole = members.length < (ranges[i] as Range).count || list.length >= limit
      return last === undefined || isWhole ? [] : [{ index, max, min: lexBound('(', last) }]
    })
  }
  if (head === null) throw new ScanError('NOT_READY', 'The replica is empty.')
  const { offset, recordTime } = decodeHead(head)
  return { offset, recordTime, contracts }
}
