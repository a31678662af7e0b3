/**
 * `npm run bench` measures the figures of test/bench/README.md that have budgets, and prints ratios. Both sides of a
 * ratio are measured in the same run. A part that fails does not prevent the next one; the exit status is 1 if any failed.
 *
 *   npm run bench                    some fifteen minutes
 *   npm run bench -- --full          100 000 names, longer measurements
 *   npm run bench -- --smoke         the smallest sizes: shows that every part runs; its figures have no meaning
 *   npm run bench -- names           only these: certified, machines, names, ordering, prices, proxy, shares, snapshots, splice,
 *                                    streams
 *   … ordering --driver cometbft --nodes 7     only this driver and this number of members
 *   … --json FILE                    writes the results, with the commit, the date and the machine
 *   … --record                       writes them to test/bench/results, and their tables to the README
 *   npm run bench -- --tables        only writes the tables again
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { createSystemClock } from '@quorumscan/base'
import { formatInstant } from '@quorumscan/verifier'
import { whyNoEngine } from 'quorumscan/testing/engine'
import { measureCertified } from './certified/measure.ts'
import { measureMachines } from './machines/measure.ts'
import { measureNames } from './names/measure.ts'
import { measureOrdering, ORDERING_DRIVERS } from './ordering/measure.ts'
import { measurePrices } from './prices/measure.ts'
import { measureProxy } from './proxy/measure.ts'
import { discardRows, print, printSkipped, round, takeRows } from './report.ts'
import { type Result, recordResult, writeTables } from './results.ts'
import { measureShares } from './shares/measure.ts'
import { measureSnapshots } from './snapshots/measure.ts'
import { measureSplice } from './splice/measure.ts'
import { measureStreams } from './streams/measure.ts'

type Size = 'smoke' | 'quick' | 'full'
type Driver = (typeof ORDERING_DRIVERS)[number]
type Chosen = { readonly drivers: readonly Driver[]; readonly nodeCounts: readonly number[] | null }
type Part = (size: Size, chosen: Chosen) => Promise<void>

function part<Options>(
  sizes: Readonly<Record<Size, Options>>,
  measure: (options: Options, chosen: Chosen) => Promise<void>,
): Part {
  return (size, chosen) => measure(sizes[size], chosen)
}

const PARTS: Readonly<Record<string, Part>> = {
  certified: part(
    {
      smoke: {
        nameCount: 1_000,
        stateTurns: 1,
        turns: 1,
        ms: 100,
        cpuMs: 200,
        servedCount: 16,
        visibleCount: 1,
      },
      quick: {
        nameCount: 100_000,
        stateTurns: 5,
        turns: 9,
        ms: 500,
        cpuMs: 1_000,
        servedCount: 1_000,
        visibleCount: 60,
      },
      full: {
        nameCount: 100_000,
        stateTurns: 5,
        turns: 45,
        ms: 500,
        cpuMs: 1_000,
        servedCount: 1_000,
        visibleCount: 60,
      },
    },
    measureCertified,
  ),
  machines: part(
    {
      smoke: { nameCount: 2, turns: 1, ms: 100, driversMax: 1 },
      quick: { nameCount: 9, turns: 8, ms: 500, driversMax: 2 },
      full: { nameCount: 9, turns: 30, ms: 500, driversMax: 2 },
    },
    ({ driversMax, ...options }, { drivers }) =>
      measureMachines({ ...options, drivers: drivers.slice(0, driversMax) }),
  ),
  names: part(
    {
      smoke: { nameCount: 2_000, registrationCount: 50, turns: 1, ms: 200 },
      quick: { nameCount: 10_000, registrationCount: 500, turns: 5, ms: 1_000 },
      full: { nameCount: 100_000, registrationCount: 3_000, turns: 5, ms: 5_000 },
    },
    measureNames,
  ),
  ordering: part(
    {
      smoke: {
        nodeCounts: [4],
        turns: 1,
        warmUpTurns: 0,
        ms: 300,
        settleMs: 0,
        idleMs: 300,
        visibleCount: 1,
        driversMax: 1,
      },
      quick: {
        nodeCounts: [4],
        turns: 5,
        warmUpTurns: 2,
        ms: 4_000,
        settleMs: 20_000,
        idleMs: 20_000,
        visibleCount: 9,
        driversMax: 2,
      },
      full: {
        nodeCounts: [4, 7],
        turns: 5,
        warmUpTurns: 2,
        ms: 5_000,
        settleMs: 20_000,
        idleMs: 60_000,
        visibleCount: 9,
        driversMax: 2,
      },
    },
    // With one driver, `machines` takes Redis and `ordering` CometBFT, if it is installed.
    ({ driversMax, ...options }, { drivers, nodeCounts }) =>
      measureOrdering({
        ...options,
        drivers: drivers.slice(-driversMax),
        nodeCounts: nodeCounts ?? options.nodeCounts,
      }),
  ),
  prices: part(
    {
      smoke: { nameCount: 16, cpuMs: 300, readsMax: 60, writes: 4 },
      quick: { nameCount: 1_000, cpuMs: 1_000, readsMax: 200, writes: 8 },
      full: { nameCount: 10_000, cpuMs: 2_000, readsMax: 400, writes: 16 },
    },
    measurePrices,
  ),
  proxy: part(
    {
      smoke: {
        turns: 1,
        warmUpTurns: 0,
        faultTurns: 1,
        ms: 200,
        nameCount: 16,
        visibleCount: 1,
        manyNodes: 1,
      },
      quick: {
        turns: 9,
        warmUpTurns: 40,
        faultTurns: 9,
        ms: 500,
        nameCount: 1_000,
        visibleCount: 9,
        manyNodes: 13,
      },
      full: {
        turns: 45,
        warmUpTurns: 40,
        faultTurns: 15,
        ms: 500,
        nameCount: 1_000,
        visibleCount: 9,
        manyNodes: 13,
      },
    },
    measureProxy,
  ),
  shares: part(
    {
      smoke: { turns: 1, ms: 500 },
      quick: { turns: 3, ms: 4_000 },
      full: { turns: 7, ms: 10_000 },
    },
    measureShares,
  ),
  snapshots: part(
    {
      smoke: { nameCount: 500, turns: 1 },
      quick: { nameCount: 10_000, turns: 5 },
      full: { nameCount: 100_000, turns: 5 },
    },
    measureSnapshots,
  ),
  splice: part(
    { smoke: { readCount: 3 }, quick: { readCount: 30 }, full: { readCount: 200 } },
    measureSplice,
  ),
  streams: part(
    {
      smoke: { updateCount: 2_000, turns: 1, subscriberCount: 20, ms: 300 },
      quick: { updateCount: 100_000, turns: 5, subscriberCount: 500, ms: 10_000 },
      full: { updateCount: 100_000, turns: 7, subscriberCount: 500, ms: 30_000 },
    },
    measureStreams,
  ),
}

const clock = createSystemClock()

/** Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      full: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      driver: { type: 'string' },
      nodes: { type: 'string' },
      json: { type: 'string' },
      record: { type: 'boolean', default: false },
      tables: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name))
  if (unknown !== undefined) {
    print(`unknown benchmark ${unknown}; benchmarks are ${Object.keys(PARTS).join(', ')}`)
    return 2
  }
  if (values.tables) {
    writeTables()
    return 0
  }
  const size = values.smoke ? 'smoke' : values.full ? 'full' : 'quick'
  const names = positionals.length > 0 ? positionals : Object.keys(PARTS)
  const chosen: Chosen = {
    drivers: ORDERING_DRIVERS.filter((driver) => {
      if (driver !== (values.driver ?? driver)) return false
      if (driver !== 'cometbft' || whyNoEngine === null) return true
      printSkipped(`everything with driver ${driver}: ${whyNoEngine}`)
      return false
    }),
    nodeCounts: values.nodes === undefined ? null : [Number(values.nodes)],
  }
  const failed: string[] = []
  const results: Result[] = []
  for (const [name, measure] of Object.entries(PARTS)) {
    if (!names.includes(name)) continue
    print(`== ${name}`)
    const startedMs = clock.monotonicMs()
    try {
      await measure(size, chosen)
      print(`${name} took ${round((clock.monotonicMs() - startedMs) / 1_000)} s`)
      results.push(describeResult(name, size))
    } catch (error) {
      discardRows()
      failed.push(name)
      print(`FAILED   ${name}: ${error instanceof Error ? error.stack : String(error)}`)
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
  if (values.record) {
    for (const result of results) recordResult(result)
    writeTables()
  }
  if (failed.length > 0) print(`Failed: ${failed.join(', ')}`)
  return failed.length > 0 ? 1 : 0
}

function describeResult(part: string, size: Size): Result {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
  const isChanged = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }) !== ''
  return {
    part,
    size,
    commit: isChanged ? `${commit} with changes` : commit,
    date: formatInstant(clock.nowMicros()),
    processor: cpus()[0]?.model ?? null,
    cores: cpus().length,
    node: process.version,
    rows: takeRows(),
  }
}
