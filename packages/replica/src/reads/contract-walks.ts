/**
 * Walks over active contracts in portions, while the ledger moves on: what is active from beginning to end is
 * told, what comes or goes meanwhile may be told or not, and nothing is told twice.
 */
import type { Contract } from '@quorumscan/model'
import { reach } from '../connection.ts'
import { BUCKETS } from '../storage/intern.ts'
import { contractsKey } from '../storage/keys.ts'
import { readMoment, type Store } from './contracts.ts'

/** Contracts per command: what Redis does without noticeable delay for others. */
const PORTION = 500
/** Buckets per round trip: some 800 contracts at 100 000 names. */
const BUCKETS_READ = 8

/** Contracts under an index key, in byte order of their ids. */
export async function* walkContractsByKey(
  store: Store,
  key: string,
): AsyncGenerator<readonly Contract[]> {
  let after: Uint8Array | undefined
  do {
    const range = { key, count: PORTION, ...(after === undefined ? {} : { after }) }
    const [reply] = (await reach(readMoment(store, { keys: [range] }))).byKey
    yield reply?.contracts ?? []
    after = reply?.next
  } while (after !== undefined)
}

/** Every contract, bucket by bucket. */
export async function* walkContracts({
  redis,
  layout,
}: Store): AsyncGenerator<readonly Contract[]> {
  for (let start = 0; start < BUCKETS.length; start += BUCKETS_READ) {
    const pipeline = redis.pipeline()
    for (const bucket of BUCKETS.slice(start, start + BUCKETS_READ))
      pipeline.hvalsBuffer(contractsKey(bucket))
    const replies = ((await reach(pipeline.exec())) ?? []) as [Error | null, Buffer[]][]
    yield replies.flatMap(([error, values]) => {
      if (error !== null) throw error
      return values.map((bytes) => layout.codec.decode(bytes))
    })
  }
}
