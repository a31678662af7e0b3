/**
 * The state that follows from genesis and log, kept in Redis. This file runs ingest and scrub, and reports what was
 * applied. What is read is in the read objects: `lookups` at an offset, `history` of updates, `proofs`, and the reads of
 * the newest state that the port `Ledger` names.
 *
 * `onApplied` reports entries that this process wrote: each once while Redis keeps its data. It may report entries again
 * after Redis lost its last seconds, and does not report those of another process. A sweep must find the rest.
 */
import { anySignal, assert, type Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { AppliedEntry, Head, Ledger, Ordering, Snapshots } from '@quorumscan/ledger'
import type { Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { endConnection, openRedis } from '@quorumscan/redis'
import type { Genesis } from '@quorumscan/verifier'
import { raiseHorizon } from './clean-up/clean-up.ts'
import { pruneHistory } from './clean-up/update-history.ts'
import { openReadConnection } from './connection.ts'
import { loadOrStart } from './ingest/genesis.ts'
import { ingest, RECORD_TIME_AHEAD_MICROS_MAX } from './ingest/ingest.ts'
import { touchedVersions } from './ingest/plan-versions.ts'
import type { InterpretedEntry } from './ingest/step.ts'
import type { Mirror } from './ingest/store.ts'
import { activityRulesOf } from './reads/activity-reads.ts'
import type { Store } from './reads/contracts.ts'
import { createLookups, type Lookups } from './reads/lookups.ts'
import { createMoments, type Moments } from './reads/moments.ts'
import { createNameReader, type NameReader } from './reads/name-reader.ts'
import { createNewestReads, type NewestReads } from './reads/newest-reads.ts'
import { createUpdateHistory, type HistoryStep, type UpdateHistory } from './reads/update-reads.ts'
import { createSnapshotMaker, type SnapshotMaker } from './snapshot/maker.ts'
import { scrub } from './state-tree/scrub.ts'
import {
  createStateFollower,
  type StateFollower,
  stateDiverged,
} from './state-tree/state-follower.ts'
import { createStateService, type StateService } from './state-tree/state-service.ts'
import { deleteReplica } from './storage/delete-replica.ts'
import { ReplicaStateError } from './storage/head.ts'
import { createLayout } from './storage/layout.ts'

export type ReplicaOptions = {
  /** Which holds the replica. */
  readonly redis: RedisAddress
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** Jobs whose due work this replica is asked for; all unless given. Others cost a member a contract. */
  readonly dueJobs?: readonly string[]
  readonly clock: Clock
  /** The participant who keeps completions and a history of updates, `1220` and 64 hex digits; nobody's without it. */
  readonly participant?: string
  /** Where its snapshots go, and where it starts from one; without it, from the log alone. */
  readonly snapshots?: Snapshots
  /** Told why ingest waits, or goes no further. */
  readonly onProblem?: (error: Error) => void
  /**
   * Called where other software wrote what is stored: the replica begins anew, once this has deleted it. Without it that
   * is an error.
   */
  readonly rebuild?: (deleteStored: () => Promise<unknown>) => Promise<void>
}

/**
 * `clock-behind`: entries wait, or are newer than they can be, because the own clock is slow (Rule 6). `halted`: it
 * cannot go on, and an operator must look.
 */
export type ReplicaState = 'starting' | 'catching-up' | 'clock-behind' | 'live' | 'halted'

/** An idle log has a checkpoint every 10 s; a head older than this by the own clock is behind. */
const LIVE_LAG_MICROS_MAX = 15_000_000
/** Writing the genesis into a fresh Redis takes milliseconds. */
const START_MS_MAX = 10_000

/** Owns its connections. One `run` at a time writes; any number of processes may read. */
export class Replica implements Ledger, AsyncDisposable {
  readonly proofs: StateService
  readonly lookups: Lookups
  readonly history: UpdateHistory
  readonly pin: Moments['pin']
  readonly pinNow: Moments['pinNow']
  readonly contracts: NewestReads['contracts']
  readonly contractsByKey: NewestReads['contractsByKey']
  readonly contractsByKeys: NewestReads['contractsByKeys']
  readonly completions: NewestReads['completions']
  readonly walkContracts: NewestReads['walkContracts']
  readonly isPartyAllocated: NewestReads['isPartyAllocated']
  readonly parties: NewestReads['parties']
  readonly dueItems: NewestReads['dueItems']
  readonly dryRun: NewestReads['dryRun']
  readonly #options: ReplicaOptions
  readonly #store: Store
  readonly #nameReader: NameReader
  readonly #stateFollower: StateFollower
  readonly #closing = new AbortController()
  readonly #listeners = new Set<(entry: AppliedEntry) => void>()
  readonly #followers = new Set<(step: HistoryStep) => void>()
  readonly #moments: Moments
  #mirror: Mirror
  #writing: Offset = 0
  #standstill: ScanError | null = null
  #isHeldByClock = false
  #isRunning = false
  #running: Promise<unknown> = Promise.resolve()

  /**
   * Connects, checks Redis, and writes the genesis where Redis is empty.
   *
   * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached or may evict keys.
   * @throws {ReplicaStateError} If Redis holds the replica of another genesis, or of other software without `rebuild`.
   */
  static async create(options: ReplicaOptions): Promise<Replica> {
    const redis = await openReadConnection(options.redis)
    try {
      const store = { redis, layout: createLayout(options) }
      const context = { ...options, layout: store.layout }
      const load = () => loadOrStart(redis, context, AbortSignal.timeout(START_MS_MAX))
      const mirror = await load().catch(async (error: unknown) => {
        const isOther = error instanceof ReplicaStateError && error.isOfOtherLayout
        if (!isOther || options.rebuild === undefined) throw error
        await options.rebuild(() => deleteReplica(redis))
        return await load()
      })
      return new Replica(options, store, mirror)
    } catch (error) {
      redis.disconnect()
      throw error
    }
  }

  private constructor(options: ReplicaOptions, store: Store, mirror: Mirror) {
    this.#options = options
    this.#store = store
    const onProblem = (error: Error) => this.#options.onProblem?.(error)
    const follower = createStateFollower({ ...options, layout: store.layout, onProblem })
    this.#stateFollower = follower
    this.#nameReader = createNameReader(store.redis, {
      onRead: ({ head, byName }) => follower.compareNames(head, byName),
    })
    const head = () => this.#mirror.head
    this.proofs = createStateService({
      redis: store.redis,
      rules: activityRulesOf(options.genesis),
      nameReader: this.#nameReader,
      follower,
      head,
    })
    this.#mirror = mirror
    this.#moments = createMoments(() => this.#mirror, options.clock)
    this.pin = this.#moments.pin
    this.pinNow = this.#moments.pinNow
    this.lookups = createLookups({
      store,
      genesis: options.genesis,
      nameReader: this.#nameReader,
      trusted: (offset) => this.#trusted(offset),
    })
    this.history = createUpdateHistory(store)
    const newest = createNewestReads({ ...options, store, recordTime: () => head().recordTime })
    this.contracts = newest.contracts
    this.contractsByKey = newest.contractsByKey
    this.contractsByKeys = newest.contractsByKeys
    this.completions = newest.completions
    this.walkContracts = newest.walkContracts
    this.isPartyAllocated = newest.isPartyAllocated
    this.parties = newest.parties
    this.dueItems = newest.dueItems
    this.dryRun = newest.dryRun
  }

  /**
   * Applies the log until the signal aborts, or until it cannot go on: then reads do, and `standstill` says why.
   *
   * @throws What is a bug, or ReplicaStateError: the process should end.
   */
  run(ordering: Ordering, signal: AbortSignal): Promise<void> {
    assert(!this.#isRunning, 'a replica has one run at a time')
    this.#isRunning = true
    const running = this.#runBoth(ordering, anySignal([signal, this.#closing.signal]))
    this.#running = running.catch(() => {}) // Reported to whoever called run.
    return running
  }

  /** `starting` until a run has loaded the state, `live` while the head is recent by the own clock. */
  state(): ReplicaState {
    if (this.#standstill !== null) return 'halted'
    if (!this.#isRunning) return 'starting'
    const lag = this.#options.clock.nowMicros() - this.head().recordTime
    if (this.#isHeldByClock || -lag > RECORD_TIME_AHEAD_MICROS_MAX) return 'clock-behind'
    return lag <= LIVE_LAG_MICROS_MAX ? 'live' : 'catching-up'
  }

  /** Why it goes no further: LOG_REGRESSED, SOFTWARE_OUTDATED. */
  standstill(): ScanError | null {
    return this.#standstill
  }

  head(): Head {
    return this.#mirror.head
  }

  /** As `head`, or the end of a write that is under way: no read shows anything newer. */
  visibleOffset(): Offset {
    return Math.max(this.#mirror.head.offset, this.#writing)
  }

  onApplied(listener: (entry: AppliedEntry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * As `onApplied`, once for each write, with what the write added to the history of updates. Returns the way
   * to stop.
   */
  onHistory(follower: (step: HistoryStep) => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** Forgets updates and completions up to an offset; returns what is pruned now. */
  async prune(upTo: Offset): Promise<Offset> {
    assert(upTo <= this.head().offset, 'what is pruned has been applied')
    return await pruneHistory(this.#store.redis, upTo)
  }

  /** The oldest offset that can be read (D-10). */
  horizon(): Offset {
    return this.#mirror.head.horizon
  }

  /**
   * Moves the horizon up to an offset that has been applied; a restart does not move it back, only a wipe.
   * Returns the horizon: never less than before.
   */
  async raiseHorizon(to: Offset, signal: AbortSignal): Promise<Offset> {
    assert(to <= this.head().offset, 'the head can always be read')
    // Fenced by the ingest, whose reply is about to come.
    while (
      (await raiseHorizon(this.#store.redis, this.#mirror, { horizon: to, signal })) === 'fenced'
    )
      signal.throwIfAborted()
    return this.horizon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new ScanError('NOT_READY', 'The replica is closed.'))
    await this.#running
    this.#store.redis.disconnect()
  }

  /** Ingest, and the scrub as long as it runs. */
  async #runBoth(ordering: Ordering, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const { genesis, clock } = this.#options
    const scrubbing = scrub({
      ...this.#store,
      genesis,
      clock,
      follower: this.#stateFollower,
      signal: anySignal([signal, ended.signal]),
    })
    try {
      await Promise.all([this.#ingest(ordering, signal).finally(() => ended.abort()), scrubbing])
    } finally {
      this.#isRunning = false
    }
  }

  async #ingest(ordering: Ordering, signal: AbortSignal): Promise<void> {
    const redis = openRedis(this.#options.redis, 'replicaWrite')
    // A Redis that hangs must not keep the process from stopping.
    const onAbort = () => redis.disconnect()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      this.#standstill = await ingest(redis, ordering, {
        ...this.#options,
        layout: this.#store.layout,
        signal,
        state: this.#stateFollower,
        maker: makerOf(this.#options, this.#store),
        snapshots: this.#options.snapshots ?? null,
        onProblem: (error) => this.#options.onProblem?.(error),
        onWriting: (offset) => {
          this.#writing = offset
        },
        onHeld: (isHeld) => {
          this.#isHeldByClock = isHeld
        },
        onMirror: (mirror, entries) => this.#moveTo(mirror, entries),
      })
    } finally {
      this.#isHeldByClock = false
      signal.removeEventListener('abort', onAbort)
      endConnection(redis)
    }
  }

  #moveTo(mirror: Mirror, entries: readonly InterpretedEntry[]): void {
    this.#mirror = mirror
    // Without entries the state was loaded anew.
    const touched = entries.length === 0 ? null : touchedVersions(entries).names
    this.#nameReader.moveTo(mirror.head.offset, touched)
    this.#moments.wake()
    this.proofs.onWritten()
    this.#tellFollowers(mirror, entries)
    for (const { delta, ...entry } of entries)
      for (const listener of this.#listeners)
        listener({ ...entry, created: delta.created, archived: delta.archived })
  }

  #tellFollowers(mirror: Mirror, entries: readonly InterpretedEntry[]): void {
    if (this.#followers.size === 0) return
    const { offset, recordTime } = mirror.head
    const step: HistoryStep = {
      after: entries.length === 0 ? null : offset - entries.length,
      head: { offset, recordTime },
      updates: entries.flatMap(({ update }) => update ?? []),
    }
    for (const follower of this.#followers) follower(step)
  }

  /** For what is answered from what is stored. */
  #trusted(offset: Offset): ReturnType<Moments['instant']> {
    const diverged = this.proofs.diverged()
    // No answer is better than one that may be wrong: failures do not vote (Rule 8).
    if (diverged !== null) throw stateDiverged(diverged)
    return this.#moments.instant(offset)
  }
}

function makerOf(options: ReplicaOptions, store: Store): SnapshotMaker | null {
  const { snapshots, genesis } = options
  if (snapshots?.take === undefined) return null
  return createSnapshotMaker({
    ...options,
    store,
    rules: activityRulesOf(genesis),
    take: snapshots.take.bind(snapshots),
    onProblem: (error) => options.onProblem?.(error),
  })
}
