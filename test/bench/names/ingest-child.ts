/**
 * A process that applies a log to an empty Redis, either by a replica or with the least possible work: it checks each
 * signature, and writes six values per entry in pipelines.
 */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSystemClock } from '@quorumscan/base'
import { decodeEntry, type LogEntry } from '@quorumscan/ledger'
import { openReplica } from '@quorumscan/replica'
import { createTestNetwork, type TestNetwork } from '@quorumscan/testkit'
import { Redis } from 'ioredis'
import { answer, childArgument } from '../../support/child.ts'
import { lateClock, OPERATOR_JOBS } from './grow.ts'
import { decodeLog } from './log-file.ts'
import { createMemoryLog } from './memory-ordering.ts'

export type IngestArgument = {
  readonly side: 'replica' | 'raw'
  readonly socketPath: string
  readonly logFile: string
}
export type IngestRate = { readonly entriesPerSecond: number }

/** Batch size of a replica's ingest. */
const BATCH_ENTRIES = 500
/** About the size of an entry and of each of its contracts. */
const VALUE = Buffer.alloc(200, 'v')

const { side, socketPath, logFile } = childArgument<IngestArgument>()
const clock = createSystemClock()
const network = createTestNetwork()
const entries = decodeLog(await readFile(logFile))
const startedAt = clock.monotonicMs()
if (side === 'replica') await applyByReplica(network, entries)
else await applyRaw(network, entries)
const rate: IngestRate = {
  entriesPerSecond: (entries.length * 1_000) / (clock.monotonicMs() - startedAt),
}
answer(rate)

async function applyByReplica(
  { genesis, genesisHash }: TestNetwork,
  log: readonly LogEntry[],
): Promise<void> {
  await using replica = await openReplica({
    redis: { path: socketPath },
    genesis,
    genesisHash,
    dueJobs: OPERATOR_JOBS,
    clock: lateClock(network),
  })
  const stopping = new AbortController()
  const reached = new Promise<void>((resolve) => {
    replica.onApplied(({ offset }) => {
      if (offset === log.length) resolve()
    })
  })
  const running = replica.run(createMemoryLog(genesis.recordTime, log), stopping.signal)
  await reached
  stopping.abort()
  await running
}

async function applyRaw({ genesisHash }: TestNetwork, log: readonly LogEntry[]): Promise<void> {
  const redis = new Redis({ path: socketPath })
  try {
    for (let first = 0; first < log.length; first += BATCH_ENTRIES) {
      const pipeline = redis.pipeline()
      for (const { offset, recordTime, bytes } of log.slice(first, first + BATCH_ENTRIES)) {
        const { kind } = decodeEntry(bytes, genesisHash)
        if (kind !== 'submission') throw new Error(`entry ${offset} is ${kind}`)
        const id = createHash('sha256').update(bytes).digest()
        pipeline.hset('contracts', id, VALUE)
        pipeline.zadd('index', 0, Buffer.concat([id, id.subarray(0, 20)]))
        pipeline.zadd('due', recordTime, id)
        pipeline.hset('names', String(offset), VALUE)
        pipeline.zadd('lex', 0, String(offset))
        pipeline.rpush('at', id)
      }
      await pipeline.exec()
    }
  } finally {
    redis.disconnect()
  }
}
