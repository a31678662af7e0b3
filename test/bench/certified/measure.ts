/** Measures certified reads: the cost of the state tree for a replica, and the speed of nodes and proxy with proofs. */
import { median } from '@quorumscan/base'
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'
import { startRedis } from '@quorumscan/testkit'
import { runChild } from '../../support/child.ts'
import { atMost, print, printRow, round } from '../report.ts'
import { verifyMsInChromium } from './chromium.ts'
import { measureServing, type ServingOptions } from './serving.ts'
import type { Loaded, StateArgument, Updated } from './state-child.ts'

export type CertifiedOptions = {
  /** Names in the state tree. */
  readonly nameCount: number
  /** Number of fresh processes, whose times for the same work differ by a third. */
  readonly stateTurns: number
} & ServingOptions

const STATE = 'bench/certified/state-child'
const KIB = 1_024
const MS_PER_SECOND = 1_000

export async function measureCertified(options: CertifiedOptions): Promise<void> {
  await measureState(options)
  await measureServing(options)
}

async function measureState({ nameCount, stateTurns }: CertifiedOptions): Promise<void> {
  const options = Object.entries(REPLICA_REDIS_OPTIONS)
  await using redis = await startRedis(options.flatMap(([name, value]) => [`--${name}`, value]))
  const run = <Result>(task: StateArgument['task']) =>
    runChild<Result>(STATE, { task, socketPath: redis.socketPath, nameCount })
  await run('fill')
  const loaded: Loaded[] = []
  const updated: Updated[] = []
  for (let each = 0; each < stateTurns; each++) {
    loaded.push(await run<Loaded>('load'))
    updated.push(await run<Updated>('update'))
  }
  const of = (what: 'proofMs' | 'hashMicros' | 'bytesPerName' | 'loadMs' | 'verifyMs') =>
    loaded.map((one) => one[what])
  const [first] = loaded
  const proofKib = (first?.proofBytes ?? []).map((bytes) => bytes / KIB)
  print(
    `${nameCount} random names; a proof of one takes ${round(median(of('proofMs')) * MS_PER_SECOND)} µs to make, a SHA-256 of 1 KiB ${round(median(of('hashMicros')))} µs`,
  )
  const row = (what: string, values: readonly number[], unit: string, budget: number) =>
    printRow({ what, values, unit, budget: atMost(budget) })
  row('memory of the state tree per name', of('bytesPerName'), 'B', 512)
  row(
    'start: processor time to load the state tree',
    of('loadMs').map((ms) => ms / MS_PER_SECOND),
    's',
    3,
  )
  row(
    'root update per changed leaf, 128 changed per root',
    updated.map(({ togetherMicros }) => togetherMicros),
    'µs',
    30,
  )
  row(
    'root update per changed leaf, one entry renewed alone',
    updated.map(({ aloneMicros }) => aloneMicros),
    'µs',
    60,
  )
  row('proof of one name, without its entry: median', [median(proofKib)], 'KiB', 1.5)
  row('proof of one name, without its entry: largest', [Math.max(...proofKib)], 'KiB', 4)
  row('verifying one name, certificate known, in Node: median', of('verifyMs'), 'ms', 0.1)
  const inChromium = first === undefined ? null : await verifyMsInChromium(first.toVerify)
  if (inChromium !== null)
    row('verifying one name, certificate known, in Chromium: median', [inChromium], 'ms', 1)
}
