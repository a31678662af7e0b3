/** Reads active contracts of several index keys atomically, for joins over them. */
import { bytesEqual } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Contract, Micros, Offset } from '@quorumscan/model'
import { reach } from '../connection.ts'
import { decodeHead } from '../storage/head.ts'
import { readMoment, type Store } from './contracts.ts'

/** Contracts of a key in one script: some 4 ms of Redis. */
const PORTION = 2_000
/** A read of more than a portion starts again when the head moves. The head moves every 10 ms at most. */
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

/** @throws {ScanError} OVERLOADED if a key has more than a portion and the head moved during each attempt. */
export async function readJoinedContracts(
  store: Store,
  keys: readonly string[],
  { limit, portion = PORTION }: Bounds,
): Promise<JoinedContracts> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const found = await readAll(store, keys, { limit, portion })
    if (found !== null) return found
  }
  throw new ScanError('OVERLOADED', 'The ledger moves on faster than so many contracts are read.', {
    retryAfterSeconds: 1,
  })
}

/** Null if the head moved between two portions. Every batch changes its bytes. */
async function readAll(
  store: Store,
  keys: readonly string[],
  { limit, portion }: Required<Bounds>,
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
    const reply = await reach(readMoment(store, { keys: ranges }))
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
