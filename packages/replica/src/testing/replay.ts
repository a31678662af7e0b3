/** Replays a log into a replica and returns its hashes, roots and keys. Also run in processes of other locales. */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import { type LogEntry, nextHistoryHash } from '@quorumscan/ledger'
import type { Actor, Scenario } from '@quorumscan/ledger/testing'
import { partyParticipant } from '@quorumscan/model'
import {
  createManualClock,
  createSeededIntegers,
  startRedis,
  type TestRedis,
} from '@quorumscan/testkit'
import type { Genesis } from '@quorumscan/verifier'
import { cleanUpActivities } from '../clean-up/activity-clean-up.ts'
import { cleanUp, cleanUpBacklog } from '../clean-up/clean-up.ts'
import { openReplica } from '../replica.ts'
import { loadHeadState } from '../storage/store.ts'
import { dumpReplica } from './dump.ts'
import { createMemoryOrdering } from './memory-ordering.ts'
import { growRandomLog } from './random-log.ts'

/** Entries between two faults, at most. */
const FAULT_DISTANCE_MAX = 80

/** The hash at every offset, by the ledger's own chain. */
export function hashesOf(scenario: Scenario): string[] {
  const { ledger, network } = scenario
  const hashes = [network.genesisHash]
  for (const [index, { offset, recordTime, bytes }] of ledger.entries().entries()) {
    const result = ledger.results()[index]
    if (result === undefined) throw new Error('every entry has a result')
    const previous = hashes[index] as string
    const entryHash = toHex(sha256(bytes))
    hashes.push(nextHistoryHash({ previous, offset, recordTime, entryHash, result }))
  }
  return hashes
}

/** A log with its network. */
type Replayable = {
  readonly network: Pick<Scenario['network'], 'genesis' | 'genesisHash'>
  readonly ledger: Pick<Scenario['ledger'], 'entries' | 'head'>
  readonly svs: readonly Pick<Actor, 'party'>[]
}

export type Replayed = {
  readonly hashes: string[]
  /** State roots by certifiable offset, that the replica reported before it was stopped. */
  readonly roots: Map<number, string>
  readonly dump: Record<string, readonly string[]>
}

/**
 * Applies the whole log to a Redis of its own, in as few batches as it takes; with faults in small ones,
 * while the replica is restarted and Redis killed (SIGKILL), as the seed decides.
 */
export async function replay(
  scenario: Replayable,
  options: { readonly seed: string; readonly faults: boolean },
): Promise<Replayed> {
  await using redis = await startRedis(['--appendonly', 'yes'])
  const below = createSeededIntegers(options.seed)
  const log = scenario.ledger.entries()
  const hashes: string[] = [scenario.network.genesisHash]
  const roots = new Map<number, string>()
  let isDone = false
  while (!isDone)
    isDone = await runOnce(scenario, redis, { log, hashes, roots, below, faults: options.faults })
  return { hashes, roots, dump: await settledDump(redis, scenario.network.genesis) }
}

/** Everything stored, after the clean-ups have nothing left to do. */
export async function settledDump(redis: TestRedis, genesis: Genesis) {
  const connection = redis.connect()
  try {
    const headState = await loadHeadState(connection)
    const { signal } = new AbortController()
    const options = { genesis, signal }
    if (headState !== null) {
      while (cleanUpBacklog(headState) > 0) await cleanUp(connection, headState, signal)
      while ((await cleanUpActivities(connection, headState, options)) === 'more');
    }
    return await dumpReplica(connection)
  } finally {
    connection.disconnect()
  }
}

async function runOnce(
  scenario: Replayable,
  redis: TestRedis,
  run: {
    readonly log: readonly LogEntry[]
    readonly hashes: string[]
    readonly roots: Map<number, string>
    readonly below: (bound: number) => number
    readonly faults: boolean
  },
): Promise<boolean> {
  const { log, hashes, roots, below } = run
  const { genesis, genesisHash } = scenario.network
  const clock = createManualClock(scenario.ledger.head().recordTime)
  const path = redis.socketPath
  const participant = partyParticipant(scenario.svs[0]?.party ?? '')
  const options = { redis: { path }, genesis, genesisHash, clock, participant }
  await using replica = await openReplica(options)
  let reached = () => {}
  let faultAt = 0
  const nextFault = () => {
    const distance = run.faults ? 1 + below(FAULT_DISTANCE_MAX) : log.length
    faultAt = Math.min(replica.head().offset + distance, log.length)
    return new Promise<void>((resolve) => {
      reached = resolve
    })
  }
  replica.onApplied(({ offset, historyHash }) => {
    if (hashes[offset] !== undefined && hashes[offset] !== historyHash)
      throw new Error(`two hashes at ${offset}`)
    hashes[offset] = historyHash
    if (offset >= faultAt) reached()
  })
  replica.proofs.onStatePoint(({ offset, stateRoot }) => {
    if ((roots.get(offset) ?? stateRoot) !== stateRoot) throw new Error(`two roots at ${offset}`)
    roots.set(offset, stateRoot)
  })
  let fault = nextFault()
  const nextCut = () => (run.faults ? 1 + below(25) : Number.MAX_SAFE_INTEGER)
  const ordering = createMemoryOrdering(log, nextCut)
  const stop = new AbortController()
  const running = replica.run(ordering, stop.signal)
  for (;;) {
    await Promise.race([fault, running])
    if (replica.head().offset === log.length || below(2) === 0) break
    const killing = redis.kill()
    fault = nextFault()
    await killing
    await redis.restart()
  }
  const isDone = replica.head().offset === log.length
  stop.abort()
  await running
  return isDone
}

/** One line that is equal wherever the same log was replayed. */
export async function replayDigest(input: {
  readonly log: string
  readonly steps: number
  readonly seed: string
}): Promise<string> {
  const scenario = growRandomLog(input.log, input.steps)
  const { hashes, roots, dump } = await replay(scenario, { seed: input.seed, faults: false })
  return toHex(sha256(utf8(JSON.stringify([hashes, [...roots], dump]))))
}
