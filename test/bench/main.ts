/**
 * `npm run bench`: measures what test/bench/README.md has budgets for, and prints ratios, whose two sides
 * are always of the same run.
 *
 *   npm run bench                    some ten minutes
 *   npm run bench -- --full          100 000 names, five rounds
 *   npm run bench -- names           only these: certified, machines, names, ordering, proxy, snapshots, splice, streams
 *   … ordering --driver cometbft --nodes 7     only this driver and so many members
 */
import { parseArgs } from 'node:util'
import { whyNoEngine } from 'quorumscan/testing/engine'
import { measureCertified } from './certified/measure.ts'
import { measureMachines } from './machines/measure.ts'
import { measureNames } from './names/measure.ts'
import { measureOrdering, ORDERING_DRIVERS } from './ordering/measure.ts'
import { measureProxy } from './proxy/measure.ts'
import { print } from './report.ts'
import { measureSnapshots } from './snapshots/measure.ts'
import { measureSplice } from './splice/measure.ts'
import { measureStreams } from './streams/measure.ts'

const QUICK = {
  certified: { nameCount: 100_000, rounds: 1, turns: 8, ms: 500 },
  machines: { nameCount: 9, turns: 8, ms: 500 },
  names: { nameCount: 10_000, registrationCount: 500, rounds: 3, ms: 1_500 },
  ordering: { nodeCounts: [4], ms: 5_000, idleMs: 10_000 },
  proxy: { rounds: 2, clientRounds: 1, ms: 2_000 },
  snapshots: { nameCount: 10_000, rounds: 1 },
  splice: { readCount: 30 },
  streams: { updateCount: 100_000, rounds: 3, subscriberCount: 500, ms: 10_000 },
}
const FULL = {
  certified: { nameCount: 100_000, rounds: 3, turns: 30, ms: 500 },
  machines: { nameCount: 9, turns: 30, ms: 500 },
  names: { nameCount: 100_000, registrationCount: 3_000, rounds: 5, ms: 5_000 },
  ordering: { nodeCounts: [4, 7], ms: 15_000, idleMs: 60_000 },
  proxy: { rounds: 5, clientRounds: 5, ms: 6_000 },
  snapshots: { nameCount: 100_000, rounds: 3 },
  splice: { readCount: 200 },
  streams: { updateCount: 100_000, rounds: 7, subscriberCount: 500, ms: 30_000 },
}
const PARTS = [
  'certified',
  'machines',
  'names',
  'ordering',
  'proxy',
  'snapshots',
  'splice',
  'streams',
]

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      full: { type: 'boolean', default: false },
      driver: { type: 'string' },
      nodes: { type: 'string' },
    },
    allowPositionals: true,
  })
  const unknown = positionals.find((part) => !PARTS.includes(part))
  if (unknown !== undefined) {
    print(`There is no benchmark named ${unknown}; there are: ${PARTS.join(', ')}.`)
    return 2
  }
  const parts = positionals.length > 0 ? positionals : PARTS
  const sizes = values.full ? FULL : QUICK
  if (parts.includes('certified')) await measureCertified(sizes.certified)
  const driversOf = (part: string) =>
    ORDERING_DRIVERS.filter((driver) => {
      if (driver !== (values.driver ?? driver)) return false
      const isPossible = driver !== 'cometbft' || whyNoEngine === null
      if (!isPossible) print(`SKIPPED  ${part} with driver ${driver}: ${whyNoEngine}`)
      return isPossible
    })
  if (parts.includes('machines'))
    await measureMachines({ ...sizes.machines, drivers: driversOf('machines') })
  if (parts.includes('names')) await measureNames(sizes.names)
  if (parts.includes('ordering'))
    await measureOrdering({
      ...sizes.ordering,
      ...(values.nodes === undefined ? {} : { nodeCounts: [Number(values.nodes)] }),
      drivers: driversOf('ordering'),
    })
  if (parts.includes('proxy')) await measureProxy(sizes.proxy)
  if (parts.includes('snapshots')) await measureSnapshots(sizes.snapshots)
  if (parts.includes('splice')) await measureSplice(sizes.splice)
  if (parts.includes('streams')) await measureStreams(sizes.streams)
  return 0
}
