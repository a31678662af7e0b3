/** Reading contracts, by id or by what they are filed by. A contract says itself which it is. */
import { keysOf } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { lexBound, membersWith, placeBytes, placeOfId, placeOfKey } from '../storage/intern.ts'
import { indexKey } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { type RangeReply, readContracts } from '../storage/scripts.ts'

/** A connection to a replica, and how it is laid out there. */
export type Store = { readonly redis: Redis; readonly layout: Layout }

/** Contracts of an index key, or those of them behind a member. */
export type KeyRange = {
  readonly key: string
  /** -1 for all. */
  readonly count: number
  readonly after?: Uint8Array
}

export type KeyReply = {
  readonly contracts: readonly Contract[]
  /** From where to go on; undefined where nothing is left. */
  readonly next?: Uint8Array
}

/** All of one moment: the head's bytes, contracts in the order asked, null for what is none. */
export async function readMoment(
  { redis, layout }: Store,
  query: { readonly ids?: readonly ContractId[]; readonly keys?: readonly KeyRange[] },
): Promise<{
  head: Buffer | null
  byId: readonly (Contract | null)[]
  byKey: readonly KeyReply[]
}> {
  const { ids = [], keys = [] } = query
  const { head, contracts, ranges } = await readContracts(redis, {
    ids: ids.map(shortId),
    ranges: keys.map(rangeOf),
  })
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

// A text that is no contract id is looked for under an id that nothing has.
function shortId(id: ContractId): Uint8Array {
  const place = placeOfId(id)
  return place === undefined ? new Uint8Array(0) : placeBytes(place)
}

function rangeOf({ key, count, after }: KeyRange) {
  const { bucket, rest } = placeOfKey(key)
  const { min, max } = membersWith(rest)
  return {
    key: indexKey(bucket),
    min: after === undefined ? min : lexBound('(', after),
    max,
    count,
  }
}

function replyOf({ key, count }: KeyRange, reply: RangeReply, { codec }: Layout): KeyReply {
  const found = reply.values.flatMap((bytes) => (bytes === null ? [] : [codec.decode(bytes)]))
  const contracts = found.filter((contract) => keysOf(contract).includes(key))
  const last = reply.members.at(-1)
  return last === undefined || count < 0 || reply.members.length < count
    ? { contracts }
    : { contracts, next: last }
}
