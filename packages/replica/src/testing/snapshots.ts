/** Replicas that take snapshots at offsets of a test's choice, or start from one. */
import { EventEmitter, once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { concatBytes } from '@quorumscan/base'
import {
  coinRules,
  confirmSetProtocolVersionCommand,
  dsoRules,
  type LogEntry,
  NEWEST_RULES,
  type Ordering,
  type PeerSnapshot,
  tapCommand,
} from '@quorumscan/ledger'
import type { Scenario } from '@quorumscan/ledger/testing'
import type { Offset } from '@quorumscan/model'
import {
  createManualClock,
  createSeededIntegers,
  DAY_MICROS,
  type TestRedis,
} from '@quorumscan/testkit'
import { raiseHorizon } from '../clean-up/clean-up.ts'
import { ingest } from '../ingest/ingest.ts'
import { fetchCells } from '../reads/cells.ts'
import { createSnapshotMaker } from '../snapshot/maker.ts'
import { createStateTreeUpdater } from '../state-tree/tree-updater.ts'
import { createLayout } from '../storage/layout.ts'
import { loadHeadState } from '../storage/store.ts'
import { growActivityLog } from './activity-log.ts'
import { createMemoryOrdering } from './memory-ordering.ts'
import { settledDump } from './replay.ts'

const SECOND_MICROS = 1_000_000
/** The clean-up of the log below waits for this while a snapshot is taken. */
const FORGOTTEN_MICROS = 600 * SECOND_MICROS

/**
 * A log that outgrows tiles of the activity tree, whose first rows have gone, with names that expired and were
 * registered again, changes that are accepted again and again, and forgotten, ever new parties, and a version of the
 * protocol that is to come.
 */
export function growForgetfulLog(seed: string): Scenario {
  const lifetime = 100 * SECOND_MICROS
  const { scenario } = growActivityLog(seed, {
    steps: 60,
    retentionMicros: FORGOTTEN_MICROS,
    rules: {
      names: { entryLifetimeMicros: lifetime, renewalDurationMicros: lifetime },
      deduplicationMicrosMax: FORGOTTEN_MICROS,
    },
  })
  const below = createSeededIntegers(`${seed}, again`)
  for (const sv of scenario.svs.slice(0, 3))
    scenario.do(
      sv,
      confirmSetProtocolVersionCommand({
        dsoRules: scenario.the(dsoRules),
        confirmer: sv.party,
        version: NEWEST_RULES.version + 1,
        notBefore: scenario.ledger.head().recordTime + DAY_MICROS,
      }),
    )
  const actor = scenario.actor('dora')
  for (let time = 0; time < 2; time++) {
    for (const label of ['a', 'b', 'c', 'd', 'e'])
      scenario.register(actor, `${label}-again.unverified.ns`)
    scenario.ledger.advance(101 * SECOND_MICROS)
  }
  for (let step = 0; step < 240; step++) {
    if (below(10) === 0) scenario.ledger.advance(1 + below(120 * SECOND_MICROS))
    if (below(10) === 0) scenario.actor(`late-${step}`)
    const tap = { coinRules: scenario.the(coinRules), receiver: actor.party, amount: 1n }
    scenario.submit(actor, tapCommand(tap), { commandId: `change ${below(6)}` })
  }
  return scenario
}

export type Taken = ReadonlyMap<Offset, Uint8Array>

export type Followed = {
  /** History hashes by offset, of all applied entries. */
  readonly hashes: ReadonlyMap<Offset, string>
  /** State roots by certifiable offset. */
  readonly roots: ReadonlyMap<Offset, string>
  readonly taken: Taken
}

/** Applies the log to its end, from a snapshot if one is given and Redis is empty. */
export async function follow(
  scenario: Scenario,
  redis: TestRedis,
  options: {
    readonly log: readonly LogEntry[]
    /** Entries of the next batch at most. */
    readonly nextCut?: () => number
    readonly isDue?: (offset: Offset) => boolean
    /** Batches that are applied before the first piece of a snapshot is read, unless the log ends. */
    readonly pause?: number
    readonly start?: PeerSnapshot
    readonly onProblem?: (error: Error) => void
  },
): Promise<Followed> {
  const { log, nextCut, isDue = () => false, pause = 0, start, onProblem = problem } = options
  const { genesis, genesisHash } = scenario.network
  const layout = createLayout({ genesis, genesisHash })
  const connections = [redis.connect(), redis.connect()] as const
  const [writing, reading] = connections
  const hashes = new Map<Offset, string>()
  const roots = new Map<Offset, string>()
  const taken = new Map<Offset, Uint8Array>()
  const taking: Promise<void>[] = []
  const stop = new AbortController()
  const state = createStateTreeUpdater({ genesis, layout, onProblem: problem })
  const end = log.at(-1)?.offset ?? 0
  const applied = new EventEmitter()
  let isAtEnd = false
  const manual = createManualClock(scenario.ledger.head().recordTime)
  let now = 0
  const clock = { ...manual, nowMicros: () => now, delay: async () => {} }
  const take = async (point: { readonly offset: Offset }, content: AsyncIterable<Uint8Array>) => {
    const pieces: Uint8Array[] = []
    for (let batches = 0; batches < pause && !isAtEnd; batches++) await once(applied, 'batch')
    for await (const piece of content) {
      pieces.push(piece)
      await setImmediate()
    }
    taken.set(point.offset, concatBytes(pieces))
  }
  const maker = createSnapshotMaker({
    store: { redis: reading, layout },
    genesisHash,
    genesis,
    take: (point, content) => {
      const work = take(point, content)
      taking.push(work)
      return work
    },
    isDue: ({ offset }) => isDue(offset),
    clock,
    onProblem: problem,
  })
  const inner = createMemoryOrdering(log, nextCut)
  const ordering: Ordering = {
    ...inner,
    async *follow(request) {
      for await (const batch of inner.follow(request))
        for (const together of withoutLeaps(batch)) {
          now = together.at(-1)?.recordTime ?? now
          yield together
        }
    },
  }
  try {
    const outcome = await ingest(writing, ordering, {
      genesis,
      genesisHash,
      layout,
      clock,
      fetch: (keys) => fetchCells({ redis: writing, layout }, keys),
      state,
      maker,
      onProblem,
      snapshots: { find: async (after) => (after === 0 ? (start ?? null) : null) },
      signal: stop.signal,
      onWriting() {},
      onClockWait() {},
      onHeadState({ head }, entries) {
        for (const { offset, historyHash } of entries) hashes.set(offset, historyHash)
        for (const point of state.history()?.takePoints(head.offset) ?? [])
          roots.set(point.offset, point.stateRoot)
        isAtEnd = head.offset === end
        applied.emit('batch')
        if (isAtEnd)
          Promise.all(taking).then(
            () => stop.abort(),
            (error) => stop.abort(error),
          )
      },
    })
    await Promise.all(taking)
    if (outcome !== null) throw outcome
    return { hashes, roots, taken }
  } finally {
    for (const connection of connections) connection.disconnect()
  }
}

function problem(error: Error): never {
  throw error
}

/** The batch in parts, as a follower receives a log that grows. */
function withoutLeaps(batch: readonly LogEntry[]): readonly (readonly LogEntry[])[] {
  const parts: LogEntry[][] = []
  for (const entry of batch) {
    const last = parts.at(-1)
    const before = last?.at(-1)?.recordTime ?? Number.NEGATIVE_INFINITY
    if (last === undefined || entry.recordTime > before + SECOND_MICROS) parts.push([entry])
    else last.push(entry)
  }
  return parts
}

/** All stored keys, after the clean-up of data that only offsets below the head could show. */
export async function dumpOfHead(scenario: Scenario, redis: TestRedis) {
  const connection = redis.connect()
  try {
    const headState = await loadHeadState(connection)
    if (headState === null) throw new Error('nothing is stored')
    const { signal } = new AbortController()
    await raiseHorizon(connection, headState, { horizon: headState.head.offset, signal })
  } finally {
    connection.disconnect()
  }
  return await settledDump(redis, scenario.network.genesis)
}
