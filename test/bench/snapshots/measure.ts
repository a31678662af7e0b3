/** Snapshots of the state of many names: what it takes to take one, and how soon a node that was wiped is back. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { quorumOf } from '@quorumscan/consensus'
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'
import { createTestNetwork, startRedis } from '@quorumscan/testkit'
import { runChild, startChild } from '../child.ts'
import { growNames } from '../names/grow.ts'
import { print, printRow, round } from '../report.ts'
import type { StartArgument, Started } from './start-child.ts'
import type { TakeArgument, Taken } from './take-child.ts'

const REDIS_ARGUMENTS = Object.entries(REPLICA_REDIS_OPTIONS).flatMap(([name, value]) => [
  `--${name}`,
  value,
])
/** As many as a party may have requests open: 16 names are one entry each time. */
const NAMES_PER_OWNER = 16
const MIB = 2 ** 20
const TAKE = new URL('./take-child.js', import.meta.url)
const START = new URL('./start-child.js', import.meta.url)

export async function measureSnapshots({
  nameCount,
}: {
  readonly nameCount: number
}): Promise<void> {
  const clock = createSystemClock()
  const network = createTestNetwork()
  const directory = await mkdtemp(join(tmpdir(), 'qs-bench-'))
  try {
    await using grown = await startRedis(REDIS_ARGUMENTS)
    await using empty = await startRedis(REDIS_ARGUMENTS)
    const startedAt = clock.monotonicMs()
    const { length } = await growNames({
      network,
      socketPath: grown.socketPath,
      nameCount,
      namesPerOwner: NAMES_PER_OWNER,
      confirmerCount: quorumOf(network.genesis.nodes.length),
    })
    const seconds = round((clock.monotonicMs() - startedAt) / 1_000)
    print(`${nameCount} live names from ${length} log entries in ${seconds} s`)
    const argument: TakeArgument = { socketPath: grown.socketPath, directory }
    await using giver = startChild(TAKE, argument)
    const taken = await giver.result<Taken>()
    const started = await runChild<Started>(START, {
      socketPath: empty.socketPath,
      peers: taken.peers,
    } satisfies StartArgument)
    print(`a snapshot has ${round(taken.bytes / MIB)} MiB, of ${started.offset} offsets`)
    printRow({ what: 'taking it, alone', value: taken.seconds, unit: 's', budget: null })
    printRow({ what: 'of which processor', value: taken.cpuSeconds, unit: 's', budget: null })
    printRow({
      what: `a wiped node with ${nameCount} names is back`,
      value: started.seconds,
      unit: 's',
      budget: { kind: 'at most', value: 30 },
    })
    printRow({ what: 'of which processor', value: started.cpuSeconds, unit: 's', budget: null })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
