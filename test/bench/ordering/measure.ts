/** What it costs to order: by one synchronizer, and by all members together. */
import { createSystemClock, waitFor } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { startCluster } from '../../support/clusters.ts'
import { createEntries, openSynchronizers } from '../../support/synchronizers.ts'
import { untilCertified } from '../certified/serving.ts'
import { measureLoad } from '../load.ts'
import { untilFound } from '../proxy/names.ts'
import { measureVisible } from '../proxy/visible.ts'
import { median, print, printRow, type Row } from '../report.ts'
import { takenByCluster } from './processes.ts'

export const ORDERING_DRIVERS = ['redis', 'cometbft'] as const
type Driver = (typeof ORDERING_DRIVERS)[number]

export type OrderingOptions = {
  readonly drivers: readonly Driver[]
  readonly nodeCounts: readonly number[]
  readonly ms: number
  readonly idleMs: number
}

/** Submitters that wait, over all synchronizers. */
const CONNECTIONS = 256
const VISIBLE_COUNT = 9
const POLL_MS = 5
/** Until what follows from work is done, and blocks come at the interval alone. */
const SETTLE_MS = 10_000
const CATCH_UP_MS_MAX = 120_000
const clock = createSystemClock()

export async function measureOrdering(options: OrderingOptions): Promise<void> {
  const { drivers, nodeCounts, ms, idleMs } = options
  for (const nodes of nodeCounts)
    for (const ordering of drivers) {
      await using cluster = await startCluster({ nodes, ordering })
      await measureCluster(cluster, { ordering, nodes, ms, idleMs })
    }
}

async function measureCluster(
  cluster: RunningCluster,
  options: {
    readonly ordering: Driver
    readonly nodes: number
    readonly ms: number
    readonly idleMs: number
  },
): Promise<void> {
  const { ordering, nodes, ms, idleMs } = options
  const isTogether = ordering === 'cometbft'
  const row = (what: string, value: number, unit: string, budget: Row['budget'] = null) =>
    printRow({ what: `${ordering}, n = ${nodes}: ${what}`, value, unit, budget })

  const voted = await measureVisible(cluster, VISIBLE_COUNT, (name) =>
    untilFound(cluster, name, POLL_MS),
  )
  row(
    'last confirmation to verified lookup, p50',
    median(voted),
    'ms',
    isTogether || nodes !== 4 ? null : AT_MOST_150,
  )
  const certified = await measureVisible(cluster, VISIBLE_COUNT, (name) =>
    untilCertified(cluster, name),
  )
  row('last confirmation to certified lookup, p50', median(certified), 'ms')

  const synchronizers = await openSynchronizers(cluster)
  const nextEntry = await createEntries(cluster)
  const offer = async (index: number): Promise<string | null> => {
    try {
      await synchronizers[index % synchronizers.length]?.offer(nextEntry().bytes)
      return null
    } catch (error) {
      return String(error)
    }
  }
  const load = (concurrency: number) => {
    let turn = 0
    return measureLoad({ concurrency, ms, ask: () => offer(turn++) })
  }
  const alone = await load(1)
  row('submit to ordered, one alone, p50', alone.p50Ms, 'ms', isTogether ? AT_MOST_1000 : null)
  const beside = await load(CONNECTIONS)
  row(`entries/s, ${CONNECTIONS} wait, with replicas`, beside.perSecond, '')
  row('submit to ordered beside them, p50', beside.p50Ms, 'ms')

  const names = synchronizers.map(({ name }) => name)
  for (const name of names) await cluster.pause(name, { part: 'scan' })
  await cluster.pause('validator', { part: 'validator' })
  const apart = await load(CONNECTIONS)
  row(
    'entries/s, replicas apart',
    apart.perSecond,
    '',
    isTogether && nodes === 4 ? AT_LEAST_300 : null,
  )
  for (const name of names) await cluster.resume(name, { part: 'scan' })
  await cluster.resume('validator', { part: 'validator' })
  for (const { firstFailure } of [alone, beside, apart])
    if (firstFailure !== null) print(`  the first that failed: ${firstFailure}`)

  await untilUp(cluster)
  await clock.delay(SETTLE_MS)
  const [before, headBefore] = [await takenByCluster(), await synchronizers[0]?.head()]
  await clock.delay(idleMs)
  const [after, headAfter] = [await takenByCluster(), await synchronizers[0]?.head()]
  const seconds = idleMs / 1000
  row(
    'idle: processors',
    (after.cpuSeconds - before.cpuSeconds) / seconds,
    '',
    isTogether && nodes === 4 ? AT_MOST_HALF : null,
  )
  row('idle: memory of all processes', after.memoryMib, 'MiB')
  row('idle: entries of the log a second', ((headAfter ?? 0) - (headBefore ?? 0)) / seconds, '')
  for (const synchronizer of synchronizers) await synchronizer[Symbol.asyncDispose]()
}

/** What stood still has read all that was ordered meanwhile. */
function untilUp(cluster: RunningCluster): Promise<true> {
  return waitFor(
    async () => {
      const { nodes, validator } = await cluster.status()
      return [...nodes, validator].every(({ state }) => state === 'up') ? true : undefined
    },
    { clock, timeoutMs: CATCH_UP_MS_MAX, what: 'all replicas to catch up' },
  )
}

const AT_MOST_150 = { kind: 'at most', value: 150 } as const
const AT_MOST_1000 = { kind: 'at most', value: 1000 } as const
const AT_LEAST_300 = { kind: 'at least', value: 300 } as const
const AT_MOST_HALF = { kind: 'at most', value: 0.5 } as const
