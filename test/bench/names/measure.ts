/** Measures a replica with few and with many names: memory, reads and ingest. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '@quorumscan/base'
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'
import { createDirectory, createTestNetwork, startRedis, type TestRedis } from '@quorumscan/testkit'
import { runChild } from '../../support/child.ts'
import { atLeast, atMost, print, printRow, round } from '../report.ts'
import { fillReplica } from './fill.ts'
import { growNames } from './grow.ts'
import type { IngestArgument, IngestRate } from './ingest-child.ts'
import { encodeLog } from './log-file.ts'
import { measureMemory } from './memory.ts'
import type { ReadRates, ReadsArgument } from './reads-child.ts'

export type NamesOptions = {
  /** Live names of the large replica. */
  readonly nameCount: number
  /** Registrations in the log that is ingested. */
  readonly registrationCount: number
  readonly turns: number
  readonly ms: number
}

/** The cluster's configuration of Redis. */
const REDIS_ARGUMENTS = Object.entries(REPLICA_REDIS_OPTIONS).flatMap(([name, value]) => [
  `--${name}`,
  value,
])
/** Names of the small replica, with which reads of the large one are compared. */
const FEW_NAMES = 1_000
const KIB = 1_024
const READS = 'bench/names/reads-child'
const INGEST = 'bench/names/ingest-child'

export async function measureNames(options: NamesOptions): Promise<void> {
  await measureIngest(options)
  await using few = await startRedis(REDIS_ARGUMENTS)
  await using many = await startRedis(REDIS_ARGUMENTS)
  await fillReplica(few, FEW_NAMES)
  await fillReplica(many, options.nameCount)
  await printMemory(many, options.nameCount)
  await measureReads({ few, many }, options)
}

async function printMemory(redis: TestRedis, nameCount: number): Promise<void> {
  const client = redis.connect()
  try {
    const { bytesPerName, byKey } = await measureMemory(client, nameCount)
    const parts = [...byKey].filter(([, bytes]) => bytes >= 1)
    print(`bytes a name by key: ${parts.map(([key, b]) => `${key} ${round(b)}`).join(', ')}`)
    printRow({
      what: 'Redis memory of a replica per live name',
      values: [bytesPerName / KIB],
      unit: 'KiB',
      budget: atMost(2.2),
    })
  } finally {
    client.disconnect()
  }
}

async function measureReads(
  { few, many }: { readonly few: TestRedis; readonly many: TestRedis },
  { nameCount, turns, ms }: NamesOptions,
): Promise<void> {
  const read = ({ socketPath }: TestRedis, count: number) =>
    runChild<ReadRates>(READS, { socketPath, nameCount: count, ms } satisfies ReadsArgument)
  const pairs: { few: ReadRates; many: ReadRates }[] = []
  for (let each = 0; each < turns; each++)
    pairs.push({ few: await read(few, FEW_NAMES), many: await read(many, nameCount) })
  for (const { kind, what, budget } of [
    { kind: 'lookupsPerSecond', what: 'by-name lookups/s', budget: 0.8 },
    { kind: 'pagesPerSecond', what: 'prefix pages of 100/s', budget: 0.7 },
  ] as const) {
    const rates = median(pairs.map((pair) => pair.many[kind]))
    print(`${what} with ${nameCount} names: ${round(rates)}`)
    printRow({
      what: `${what} with ${nameCount} names ÷ with ${FEW_NAMES}`,
      values: pairs.map((pair) => pair.many[kind] / pair.few[kind]),
      budget: atLeast(budget),
    })
  }
}

/** Ingest of the entries of real registrations: one command each, four confirmations per name. */
async function measureIngest({ registrationCount, turns }: NamesOptions): Promise<void> {
  const { path: directory, ...temporary } = createDirectory()
  try {
    const logFile = join(directory, 'log')
    await using source = await startRedis(REDIS_ARGUMENTS)
    const network = createTestNetwork()
    const entries = await growNames({
      network,
      socketPath: source.socketPath,
      nameCount: registrationCount,
    })
    await writeFile(logFile, encodeLog(entries))
    const apply = async (side: IngestArgument['side']) => {
      await using redis = await startRedis(REDIS_ARGUMENTS)
      const argument: IngestArgument = { side, socketPath: redis.socketPath, logFile }
      return (await runChild<IngestRate>(INGEST, argument)).entriesPerSecond
    }
    const pairs: { raw: number; replica: number }[] = []
    for (let each = 0; each < turns; each++)
      pairs.push({ raw: await apply('raw'), replica: await apply('replica') })
    print(`ingest, entries/s: ${round(median(pairs.map(({ replica }) => replica)))}`)
    printRow({
      what: 'ingest, entries/s ÷ signatures checked and raw pipelined writes',
      values: pairs.map(({ raw, replica }) => replica / raw),
      budget: atLeast(0.4),
    })
  } finally {
    temporary[Symbol.dispose]()
  }
}
