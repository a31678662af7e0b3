/** Measures ordering by one synchronizer, and by ordering members. */
import { createSystemClock, waitFor } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { startCluster } from '../../support/clusters.ts'
import { type Load, measureLoad } from '../../support/load.ts'
import { createEntries, openSynchronizers } from '../../support/synchronizers.ts'
import { untilCertified } from '../certified/serving.ts'
import { untilFound } from '../proxy/names.ts'
import { measureVisible } from '../proxy/visible.ts'
import { atLeast, atMost, type Budget, print, printRow } from '../report.ts'
import { usageOfCluster } from './processes.ts'

export const ORDERING_DRIVERS = ['redis', 'cometbft'] as const
type Driver = (typeof ORDERING_DRIVERS)[number]

export type OrderingOptions = {
  readonly drivers: readonly Driver[]
  readonly nodeCounts: readonly number[]
  readonly turns: number
  /** Turns before each measurement: code that runs for the first time is several times slower. */
  readonly warmUpTurns: number
  /** Duration of one slice of a turn. */
  readonly ms: number
  readonly idleMs: number
  /** Time until all work has ended, so that only the interval causes blocks. */
  readonly settleMs: number
  /** Names of which the time to a lookup is measured. */
  readonly visibleCount: number
}

/** Concurrent submissions to all synchronizers. */
const CONNECTIONS = 256
/** Of four members that order, with replicas at work. */
const ENTRIES_PER_SECOND_MIN = 200
/** How long each of the concurrent submissions waits at this rate (Little's law). */
const LATENCY_MS_MAX = (1_000 * CONNECTIONS) / ENTRIES_PER_SECOND_MIN
const POLL_MS = 5
const CATCH_UP_MS_MAX = 120_000
const clock = createSystemClock()

/** A load, with the processor time of all processes of the cluster per entry, ms. */
type Measured = Load & { readonly cpuMs: number }
const perSecond = (slice: Measured) => slice.perSecond
const p50 = (slice: Measured) => slice.p50Ms
const cpuMs = (slice: Measured) => slice.cpuMs

export async function measureOrdering(options: OrderingOptions): Promise<void> {
  const { drivers, nodeCounts } = options
  for (const nodes of nodeCounts)
    for (const ordering of drivers) {
      await using cluster = await startCluster({ nodes, ordering })
      await measureCluster(cluster, { ...options, ordering, nodes })
    }
}

async function measureCluster(
  cluster: RunningCluster,
  options: Omit<OrderingOptions, 'drivers' | 'nodeCounts'> & {
    readonly ordering: Driver
    readonly nodes: number
  },
): Promise<void> {
  const { ordering, nodes, turns, warmUpTurns, ms, idleMs, settleMs, visibleCount } = options
  const isCometBft = ordering === 'cometbft'
  const row = (
    what: string,
    values: readonly number[],
    unit: string,
    budget: Budget | null = null,
  ) => printRow({ what: `${ordering}, n = ${nodes}: ${what}`, values, unit, budget })

  const voted = await measureVisible(cluster, visibleCount, (name) =>
    untilFound(cluster, name, POLL_MS),
  )
  row(
    'last confirmation to verified lookup, p50',
    voted,
    'ms',
    isCometBft || nodes !== 4 ? null : atMost(150),
  )
  const certified = await measureVisible(cluster, visibleCount, (name) =>
    untilCertified(cluster, name),
  )
  row('last confirmation to certified lookup, p50', certified, 'ms')

  const synchronizers = await openSynchronizers(cluster)
  await clock.delay(settleMs)
  const [before, headBefore] = [await usageOfCluster(), await synchronizers[0]?.head()]
  await clock.delay(idleMs)
  const [after, headAfter] = [await usageOfCluster(), await synchronizers[0]?.head()]
  const seconds = idleMs / 1000
  row(
    'idle: processors',
    [(after.cpuSeconds - before.cpuSeconds) / seconds],
    '',
    nodes === 4 ? atMost(isCometBft ? 0.5 : 0.3) : null,
  )
  const memoryMax = nodes === 4 && !isCometBft ? atMost(1_024) : null
  row('idle: memory of all processes', [after.memoryMib], 'MiB', memoryMax)
  row('idle: entries of the log a second', [((headAfter ?? 0) - (headBefore ?? 0)) / seconds], '')

  const nextEntry = await createEntries(cluster)
  const submit = async (index: number): Promise<string | null> => {
    try {
      await synchronizers[index % synchronizers.length]?.submit(nextEntry().bytes)
      return null
    } catch (error) {
      return String(error)
    }
  }
  let submittedCount = 0
  const load = async (concurrency: number): Promise<Measured[]> => {
    const slices: Measured[] = []
    for (let turn = -warmUpTurns; turn < turns; turn++) {
      const before = await usageOfCluster()
      const slice = await measureLoad({ concurrency, ms, send: () => submit(submittedCount++) })
      const cpuSeconds = (await usageOfCluster()).cpuSeconds - before.cpuSeconds
      if (turn >= 0) slices.push({ ...slice, cpuMs: (cpuSeconds * 1_000) / slice.count })
      if (slice.firstFailure !== null) print(`  the first that failed: ${slice.firstFailure}`)
    }
    return slices
  }
  const alone = await load(1)
  row('submit to ordered, one alone, p50', alone.map(p50), 'ms', isCometBft ? atMost(1_000) : null)
  const together = await load(CONNECTIONS)
  const floor = isCometBft && nodes === 4 ? atLeast(ENTRIES_PER_SECOND_MIN) : null
  row(`entries/s, ${CONNECTIONS} wait, with replicas`, together.map(perSecond), '', floor)
  row('processors for one of them', together.map(cpuMs), 'ms')
  const latest = isCometBft && nodes === 4 ? atMost(LATENCY_MS_MAX) : null
  row('submit to ordered next to them, p50', together.map(p50), 'ms', latest)

  const names = synchronizers.map(({ name }) => name)
  for (const name of names) await cluster.pause(name, { part: 'scan' })
  await cluster.pause('validator', { part: 'validator' })
  const apart = await load(CONNECTIONS)
  const apartMin = isCometBft && nodes === 4 ? atLeast(300) : null
  row('entries/s, replicas apart', apart.map(perSecond), '', apartMin)
  row('processors for one of them', apart.map(cpuMs), 'ms')
  for (const name of names) await cluster.resume(name, { part: 'scan' })
  await cluster.resume('validator', { part: 'validator' })

  await untilApplied(cluster, (await synchronizers[0]?.head()) ?? 0)
  row('memory of all processes afterwards', [(await usageOfCluster()).memoryMib], 'MiB')
  for (const synchronizer of synchronizers) await synchronizer[Symbol.asyncDispose]()
}

/** Waits until all replicas have applied the log up to the offset. */
function untilApplied(cluster: RunningCluster, head: number): Promise<true> {
  return waitFor(
    async () => {
      const { nodes, validator } = await cluster.status()
      const isApplied = [...nodes, validator].every(
        ({ state, offset }) => state === 'up' && (offset ?? 0) >= head,
      )
      return isApplied ? true : undefined
    },
    { clock, timeoutMs: CATCH_UP_MS_MAX, what: 'all replicas to catch up' },
  )
}
