/** A process that reads names and pages from a replica for a given time. */

import { createSystemClock } from '@quorumscan/base'
import { openReplica } from '@quorumscan/replica'
import { createTestNetwork } from '@quorumscan/testkit'
import { answer, childArgument } from '../../support/child.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { lateClock, nameOf, OPERATOR_JOBS } from './grow.ts'

export type ReadsArgument = {
  readonly socketPath: string
  readonly nameCount: number
  readonly ms: number
}
export type ReadRates = { readonly lookupsPerSecond: number; readonly pagesPerSecond: number }

const LOOKUPS_AT_ONCE = 64
const PAGES_AT_ONCE = 8
const PAGE_SIZE = 100

const { socketPath, nameCount, ms } = childArgument<ReadsArgument>()
const clock = createSystemClock()
const network = createTestNetwork()
const random = createSeededRandom(1)
const { genesis, genesisHash } = network
await using replica = await openReplica({
  redis: { path: socketPath },
  genesis,
  genesisHash,
  dueJobs: OPERATOR_JOBS,
  clock: lateClock(network),
})
const { offset } = await replica.pin(null, new AbortController().signal)

async function lookUp(): Promise<void> {
  const [body] = await replica.lookups.lookupNames(
    [nameOf(random.integer(0, nameCount - 1))],
    offset,
  )
  if (body == null) throw new Error('a name of the data set is missing')
}

async function readPage(): Promise<void> {
  const after = nameOf(random.integer(0, nameCount - 1 - PAGE_SIZE))
  const page = await replica.lookups.listByPrefix({
    prefix: 'name-',
    after,
    limit: PAGE_SIZE,
    offset,
  })
  if (page.length !== PAGE_SIZE) throw new Error('a page is not full')
}

/** Calls of `work` per second with this concurrency, after a warm-up of a third of the time. */
async function rate(work: () => Promise<void>, concurrency: number): Promise<number> {
  const start = clock.monotonicMs() + ms / 3
  const end = start + ms
  let count = 0
  const loop = async () => {
    for (let now = clock.monotonicMs(); now < end; now = clock.monotonicMs()) {
      await work()
      if (now >= start) count++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
  return (count * 1_000) / ms
}

const rates: ReadRates = {
  lookupsPerSecond: await rate(lookUp, LOOKUPS_AT_ONCE),
  pagesPerSecond: await rate(readPage, PAGES_AT_ONCE),
}
answer(rates)
