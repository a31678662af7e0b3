/** Certified reads: what the state tree costs a replica, and how quick nodes and proxy are with proofs. */
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'
import { startRedis } from '@quorumscan/testkit'
import { runChild } from '../child.ts'
import { median, print, printRow, round } from '../report.ts'
import { verifyMsInChromium } from './chromium.ts'
import { measureServing, type ServingOptions } from './serving.ts'
import type { Loaded, StateArgument, Updated } from './state-child.ts'

export type CertifiedOptions = {
  /** Names in the state tree. */
  readonly nameCount: number
} & ServingOptions

const STATE = new URL('./state-child.js', import.meta.url)
/** In each round: what one process takes for the same differs by a third. */
const STATE_ROUNDS = 3
const KIB = 1_024
const MS_PER_SECOND = 1_000

export async function measureCertified(options: CertifiedOptions): Promise<void> {
  await measureState(options)
  await measureServing(options)
}

async function measureState({ nameCount, rounds }: CertifiedOptions): Promise<void> {
  const options = Object.entries(REPLICA_REDIS_OPTIONS)
  await using redis = await startRedis(options.flatMap(([name, value]) => [`--${name}`, value]))
  const run = <Result>(task: StateArgument['task']) =>
    runChild<Result>(STATE, { task, socketPath: redis.socketPath, nameCount })
  await run('fill')
  const loaded: Loaded[] = []
  const updated: Updated[] = []
  for (let each = 0; each < STATE_ROUNDS * rounds; each++) {
    loaded.push(await run<Loaded>('load'))
    updated.push(await run<Updated>('update'))
  }
  const of = (what: 'proofMs' | 'hashMicros' | 'bytesPerName' | 'loadMs' | 'verifyMs') =>
    median(loaded.map((one) => one[what]))
  const [first] = loaded
  const proofBytes = first?.proofBytes ?? []
  print(
    `${nameCount} random names; a proof of one takes ${round(of('proofMs') * MS_PER_SECOND)} µs to make, a SHA-256 of 1 KiB ${round(of('hashMicros'))} µs`,
  )
  const rows = [
    {
      what: 'memory of the state tree per name',
      value: of('bytesPerName'),
      unit: 'B',
      budget: 512,
    },
    {
      what: 'start: processor time to load the state tree',
      value: of('loadMs') / MS_PER_SECOND,
      unit: 's',
      budget: 3,
    },
    {
      what: 'root update per changed leaf, 128 changed per root',
      value: median(updated.map(({ togetherMicros }) => togetherMicros)),
      unit: 'µs',
      budget: 30,
    },
    {
      what: 'root update per changed leaf, one entry renewed alone',
      value: median(updated.map(({ aloneMicros }) => aloneMicros)),
      unit: 'µs',
      budget: 60,
    },
    {
      what: 'proof of one name, without its entry: median',
      value: median(proofBytes) / KIB,
      unit: 'KiB',
      budget: 1.5,
    },
    {
      what: 'proof of one name, without its entry: largest',
      value: Math.max(...proofBytes) / KIB,
      unit: 'KiB',
      budget: 4,
    },
  ]
  const inChromium = first === undefined ? null : await verifyMsInChromium(first.toVerify)
  rows.push({
    what: 'verifying one name, certificate known, in Node: median',
    value: of('verifyMs'),
    unit: 'ms',
    budget: 0.1,
  })
  if (inChromium !== null)
    rows.push({
      what: 'verifying one name, certificate known, in Chromium: median',
      value: inChromium,
      unit: 'ms',
      budget: 1,
    })
  for (const { budget, ...row } of rows)
    printRow({ ...row, budget: { kind: 'at most', value: budget } })
}
