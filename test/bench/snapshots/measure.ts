/** Measures snapshots of the state of many names: the time to take one, and the recovery of a wiped node. */
import { createSystemClock } from '@quorumscan/base'
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'
import { createDirectory, startRedis } from '@quorumscan/testkit'
import { runChild, startChild } from '../../support/child.ts'
import { fillReplica } from '../names/fill.ts'
import { atMost, print, printRow, round } from '../report.ts'
import type { StartArgument, Started } from './start-child.ts'
import type { TakeArgument, Taken } from './take-child.ts'

const REDIS_ARGUMENTS = Object.entries(REPLICA_REDIS_OPTIONS).flatMap(([name, value]) => [
  `--${name}`,
  value,
])
const MIB = 2 ** 20
const TAKE = 'bench/snapshots/take-child'
const START = 'bench/snapshots/start-child'

export async function measureSnapshots({
  nameCount,
  turns,
}: {
  readonly nameCount: number
  /** Number of nodes that are wiped, one after the other. */
  readonly turns: number
}): Promise<void> {
  const clock = createSystemClock()
  const { path: directory, ...temporary } = createDirectory()
  try {
    await using grown = await startRedis(REDIS_ARGUMENTS)
    const startedAt = clock.monotonicMs()
    await fillReplica(grown, nameCount)
    const seconds = round((clock.monotonicMs() - startedAt) / 1_000)
    print(`${nameCount} live names in ${seconds} s`)
    const argument: TakeArgument = { socketPath: grown.socketPath, directory }
    await using giver = startChild(TAKE, argument)
    const taken = await giver.result<Taken>()
    print(`a snapshot has ${round(taken.bytes / MIB)} MiB`)
    printRow({ what: 'taking it, alone', values: [taken.seconds], unit: 's', budget: null })
    printRow({ what: 'of which processor', values: [taken.cpuSeconds], unit: 's', budget: null })
    const { peers } = taken
    const starts: (Started & { readonly seconds: number })[] = []
    for (let each = 0; each < turns; each++) {
      await using empty = await startRedis(REDIS_ARGUMENTS)
      const spawnedAt = clock.monotonicMs()
      const argument: StartArgument = { socketPath: empty.socketPath, peers }
      const started = await runChild<Started>(START, argument)
      starts.push({ ...started, seconds: (clock.monotonicMs() - spawnedAt) / 1_000 })
    }
    printRow({
      what: `a wiped node with ${nameCount} names is back, from the start of its process`,
      values: starts.map(({ seconds }) => seconds),
      unit: 's',
      budget: atMost(30),
    })
    for (const { what, key, unit } of [
      { what: 'of which processor', key: 'cpuSeconds', unit: 's' },
      { what: 'its memory at most', key: 'memoryMib', unit: 'MiB' },
    ] as const)
      printRow({ what, values: starts.map((started) => started[key]), unit, budget: null })
  } finally {
    temporary[Symbol.dispose]()
  }
}
