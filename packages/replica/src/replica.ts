/**
 * The state that follows from genesis and log, kept in Redis: ingest, lookups at an offset, ledger reads.
 *
 * `onApplied` reports entries that this process wrote: each once while Redis keeps its data. It may report entries again
 * after Redis lost its last seconds, and does not report those of another process. A sweep must find the rest.
 */
import { anySignal, assert, type Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { AppliedEntry, DueItem, Head, Ledger, Ordering, Snapshots } from '@quorumscan/ledger'
import {
  type CompletionRecord,
  type Contract,
  type ContractId,
  type EntryResult,
  isOffset,
  type Micros,
  type Offset,
  type PartyId,
  type Submission,
} from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { endConnection, openRedis } from '@quorumscan/redis'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { raiseHorizon } from './clean-up/horizon.ts'
import { pruneHistory } from './clean-up/update-history.ts'
import { openReadConnection, reach } from './connection.ts'
import { loadOrStart, syntheticEntries } from './ingest/genesis.ts'
import { ingest, RECORD_TIME_AHEAD_MICROS_MAX } from './ingest/ingest.ts'
import { syntheticVersion, touchedVersions } from './ingest/plan-versions.ts'
import type { InterpretedEntry } from './ingest/step.ts'
import type { Mirror } from './ingest/store.ts'
import {
  type ActivityBody,
  type ActivityPage,
  activityRulesOf,
  readActivities,
} from './reads/activity-reads.ts'
import { fetchCells, fetchContracts } from './reads/cells.ts'
import { readCompletions } from './reads/completions.ts'
import { walkContracts, walkContractsByKey } from './reads/contract-walks.ts'
import type { Store } from './reads/contracts.ts'
import { type JoinedContracts, readJoinedContracts } from './reads/joined-reads.ts'
import {
  dryRun,
  readContractsByKey,
  readDueItems,
  readHostedParties,
} from './reads/ledger-reads.ts'
import { createNameReader, type NameReader } from './reads/name-reader.ts'
import {
  type NamedBody,
  offsetNotReached,
  offsetPruned,
  readDocuments,
  readNames,
  readNamesOfParty,
  readParties,
  readPrefix,
} from './reads/reads.ts'
import {
  readArchival,
  readPrunedOffset,
  readUpdateAt,
  readUpdateById,
  readUpdatePortion,
  type UpdatePortion,
  type UpdateRange,
} from './reads/update-reads.ts'
import { createSnapshotMaker, NO_SNAPSHOTS, type SnapshotMaker } from './snapshot/maker.ts'
import { scrub } from './state-tree/scrub.ts'
import {
  createStateFollower,
  type StateFollower,
  stateDiverged,
} from './state-tree/state-follower.ts'
import type { StateReads } from './state-tree/state-reads.ts'
import { createStateService, type StateService } from './state-tree/state-service.ts'
import { deleteReplica } from './storage/delete-replica.ts'
import { ReplicaStateError } from './storage/head.ts'
import { createLayout } from './storage/layout.ts'
import type { Instant } from './storage/timeline.ts'
import type { StoredUpdate } from './storage/update-codec.ts'

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

/** An offset that can be read, and its place in history. */
export type Pinned = {
  readonly offset: Offset
  readonly recordTime: Micros
  /** Hex. */
  readonly historyHash: string
}

/** What one write added to the history of updates. */
export type HistoryStep = {
  /** The head before; null where the state was loaded anew, and what lies between is not told. */
  readonly after: Offset | null
  readonly head: { readonly offset: Offset; readonly recordTime: Micros }
  readonly updates: readonly StoredUpdate[]
}

/**
 * `clock-behind`: entries wait, or are newer than they can be, because the own clock is slow (Rule 6). `halted`: it
 * cannot go on, and an operator must look.
 */
export type ReplicaState = 'starting' | 'catching-up' | 'clock-behind' | 'live' | 'halted'

/** Templates of which the contract in force at an offset can be read. */
export type DocumentEntity = 'DsoRules' | 'AnsRules' | 'CoinRules' | 'OpenMiningRound'

/** D-10: how long a read waits for an offset that is close ahead … */
const PIN_WAIT_MS = 250
/** … which is one that so many entries reach, at 4 000 a second, in that time. */
const PIN_AHEAD_MAX = 1_000
/** Reads that wait at once; each is a small object and a timer. */
const PIN_WAITERS_MAX = 10_000
/** An idle log has a checkpoint every 10 s; a head older than this by the own clock is behind. */
const LIVE_LAG_MICROS_MAX = 15_000_000
/** Contracts of one key that are read unless the caller says otherwise. */
const CONTRACTS_BY_KEY_MAX = 10_000
/** Writing the genesis into a fresh Redis takes milliseconds. */
const START_MS_MAX = 10_000

/** Owns its connections. One `run` at a time writes; any number of processes may read. */
export class Replica implements Ledger, AsyncDisposable {
  readonly proofs: StateReads
  readonly #options: ReplicaOptions
  readonly #store: Store
  readonly #redis: Redis
  readonly #nameReader: NameReader
  readonly #stateFollower: StateFollower
  readonly #state: StateService
  readonly #syntheticBodies: ReadonlyMap<PartyId, Uint8Array>
  readonly #closing = new AbortController()
  readonly #listeners = new Set<(entry: AppliedEntry) => void>()
  readonly #followers = new Set<(step: HistoryStep) => void>()
  readonly #waiters = new Set<{ readonly offset: Offset; readonly wake: () => void }>()
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
    this.#redis = store.redis
    const onProblem = (error: Error) => this.#options.onProblem?.(error)
    const follower = createStateFollower({ ...options, layout: store.layout, onProblem })
    this.#stateFollower = follower
    this.#nameReader = createNameReader(store.redis, {
      onRead: ({ head, byName }) => follower.compareNames(head, byName),
    })
    const head = () => this.#mirror.head
    this.#state = createStateService({
      redis: store.redis,
      rules: activityRulesOf(options.genesis),
      nameReader: this.#nameReader,
      follower,
      head,
    })
    this.proofs = this.#state
    this.#mirror = mirror
    this.#syntheticBodies = new Map(
      syntheticEntries(options.genesis).map((entry) => [entry.party, syntheticVersion(entry).body]),
    )
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

  /**
   * The newest applied offset for null, else the offset asked for; waits up to 250 ms for one that is
   * close ahead (D-10).
   *
   * @throws {ScanError} OFFSET_NOT_REACHED, OFFSET_PRUNED, OVERLOADED.
   */
  async pin(at: Offset | null, signal: AbortSignal): Promise<Pinned> {
    const offset = at ?? this.head().offset
    if (offset > this.head().offset) await this.#waitFor(offset, signal)
    return this.#instant(offset)
  }

  /**
   * As `pin`, without waiting: null for an offset that is still ahead.
   *
   * @throws {ScanError} OFFSET_PRUNED.
   */
  pinNow(at: Offset | null): Pinned | null {
    const offset = at ?? this.head().offset
    return offset > this.head().offset ? null : this.#instant(offset)
  }

  /**
   * Bytes of the entries with these names at a pinned offset, in the order asked; null for none.
   *
   * @throws {ScanError} OFFSET_NOT_REACHED, OFFSET_PRUNED, STATE_DIVERGED, DEPENDENCY_UNAVAILABLE, as all
   *   reads.
   */
  async lookupNames(
    names: readonly string[],
    offset: Offset,
  ): Promise<readonly (Uint8Array | null)[]> {
    const bodies = await readNames(this.#nameReader, names, this.#trusted(offset))
    // What was read has been compared meanwhile.
    this.#trusted(offset)
    return bodies
  }

  /** The entry that stands for each party: its synthetic one, else its lowest live name (D-12). */
  async lookupParties(
    parties: readonly PartyId[],
    offset: Offset,
  ): Promise<readonly (Uint8Array | null)[]> {
    const moment = this.#trusted(offset)
    const others = parties.filter((party) => !this.#syntheticBodies.has(party))
    const found = await readParties(this.#redis, others, moment)
    let next = 0
    return parties.map((party) => this.#syntheticBodies.get(party) ?? found[next++] ?? null)
  }

  /** Live entries whose names start with the prefix, in UTF-8 byte order, after a name (D-11). */
  async listByPrefix(page: {
    readonly prefix: string
    readonly after: string | null
    readonly limit: number
    readonly offset: Offset
  }): Promise<readonly NamedBody[]> {
    return await readPrefix(this.#redis, page, this.#trusted(page.offset))
  }

  /** Live entries of a party, its synthetic one included, in byte order of the names, after a name. */
  async listByParty(page: {
    readonly party: PartyId
    readonly after: string | null
    readonly limit: number
    readonly offset: Offset
  }): Promise<readonly NamedBody[]> {
    return await readNamesOfParty(this.#redis, page, this.#trusted(page.offset))
  }

  /**
   * Rows of the activity history at a pinned offset, in the order of their event ids (D-25), of everyone
   * or of one party's own history. A walk goes on `after` the event id of its last row, at the same offset
   * or a later one, until a page is empty: large rows make a page shorter than its limit.
   */
  async activities(
    page: ActivityPage & { readonly offset: Offset },
  ): Promise<readonly ActivityBody[]> {
    const rules = activityRulesOf(this.#options.genesis)
    return await readActivities(this.#redis, page, this.#trusted(page.offset), rules)
  }

  /** The contract in force at a pinned offset; of the rounds the newest open one. */
  async documentAsOf(entity: DocumentEntity, offset: Offset): Promise<Contract> {
    const [contract] = await this.documentsAsOf(entity, offset)
    assert(contract !== undefined, `a ${entity} is in force from genesis on`)
    return contract
  }

  /** All that are active at a pinned offset, the newest first. */
  async documentsAsOf(
    entity: DocumentEntity | 'ScanAddress',
    offset: Offset,
  ): Promise<readonly Contract[]> {
    return await readDocuments(this.#store, entity, this.#trusted(offset))
  }

  async contracts(ids: readonly ContractId[]): Promise<readonly (Contract | null)[]> {
    return await reach(fetchContracts(this.#store, ids))
  }

  async contractsByKey(
    key: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly Contract[]> {
    return await readContractsByKey(this.#store, key, options.limit ?? CONTRACTS_BY_KEY_MAX)
  }

  /**
   * Active contracts of several keys at one moment, at most `limit` of each: for joins, which would miss
   * what moves from one key to another between two reads.
   */
  async contractsByKeys(
    keys: readonly string[],
    options: { readonly limit?: number } = {},
  ): Promise<JoinedContracts> {
    const limit = options.limit ?? CONTRACTS_BY_KEY_MAX
    return await readJoinedContracts(this.#store, keys, { limit })
  }

  /** Completions of the own participant after an offset and up to another one, at most one an offset. */
  async completions(range: {
    readonly after: Offset
    readonly upTo: Offset
    readonly limit: number
  }): Promise<readonly CompletionRecord[]> {
    return await readCompletions(this.#redis, range)
  }

  /** Active contracts under an index key, or all of them for null, in portions (`contract-walks.ts`). */
  walkContracts(key: string | null): AsyncGenerator<readonly Contract[]> {
    return key === null ? walkContracts(this.#store) : walkContractsByKey(this.#store, key)
  }

  /** Contracts of before that the update archived, from the bytes that it keeps of them. */
  archivedContracts(update: StoredUpdate): readonly Contract[] {
    return update.archived().map((bytes) => this.#store.layout.codec.decode(bytes))
  }

  async isPartyAllocated(party: PartyId): Promise<boolean> {
    const [cell] = await reach(fetchCells(this.#store, [{ kind: 'party', id: party }]))
    return cell?.value === true
  }

  /** Allocated parties of the whole network in byte order, after `after` ('' from the first). */
  async parties(page: {
    readonly after: PartyId | ''
    readonly limit: number
  }): Promise<readonly PartyId[]> {
    return await readHostedParties(this.#redis, page)
  }

  async dueItems(query: {
    readonly job: string
    readonly limit: number
    readonly after: DueItem | null
  }): Promise<readonly DueItem[]> {
    assert(this.#store.layout.hasDue(query.job), `this replica keeps what is due for ${query.job}`)
    return await readDueItems(this.#redis, { ...query, recordTime: this.head().recordTime })
  }

  /**
   * A portion of the updates after an offset and up to another one, which must have been applied.
   *
   * @throws {ScanError} NOT_READY, DEPENDENCY_UNAVAILABLE.
   */
  async updates(range: UpdateRange): Promise<UpdatePortion> {
    return await readUpdatePortion(this.#redis, range)
  }

  /** @param updateId - `1220` and 64 hex digits. */
  async updateById(updateId: string): Promise<StoredUpdate | null> {
    return await readUpdateById(this.#redis, updateId)
  }

  /** The update that archived the contract; null if none did, or it was pruned. */
  async archivalOf(contractId: ContractId): Promise<StoredUpdate | null> {
    return await readArchival(this.#redis, contractId)
  }

  async updateAt(offset: Offset): Promise<StoredUpdate | null> {
    return await readUpdateAt(this.#redis, offset)
  }

  /** The offset after which updates and completions can be read; 0 if nothing was pruned. */
  async prunedOffset(): Promise<Offset> {
    return await readPrunedOffset(this.#redis)
  }

  /** Forgets updates and completions up to an offset; returns what is pruned now. */
  async prune(upTo: Offset): Promise<Offset> {
    assert(upTo <= this.head().offset, 'what is pruned has been applied')
    return await pruneHistory(this.#redis, upTo)
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
    while ((await raiseHorizon(this.#redis, this.#mirror, { horizon: to, signal })) === 'fenced')
      signal.throwIfAborted()
    return this.horizon()
  }

  async dryRun(
    submission: Submission,
    options: { readonly notBefore?: Micros } = {},
  ): Promise<EntryResult> {
    const { genesis, genesisHash, clock } = this.#options
    const now = Math.max(clock.nowMicros(), options.notBefore ?? 0)
    return await dryRun(this.#store, submission, { genesis, genesisHash, now })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new ScanError('NOT_READY', 'The replica is closed.'))
    await this.#running
    this.#redis.disconnect()
  }

  /** Ingest, and the scrub as long as it runs. */
  async #runBoth(ordering: Ordering, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const { genesis, clock } = this.#options
    const scrubbing = scrub(this.#redis, {
      follower: this.#stateFollower,
      genesis,
      layout: this.#store.layout,
      clock,
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
        genesis: this.#options.genesis,
        genesisHash: this.#options.genesisHash,
        layout: this.#store.layout,
        clock: this.#options.clock,
        ...(this.#options.participant === undefined
          ? {}
          : { participant: this.#options.participant }),
        signal,
        state: this.#stateFollower,
        maker: this.#createMaker(),
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

  #createMaker(): SnapshotMaker {
    const { genesis, genesisHash, clock, snapshots } = this.#options
    if (snapshots?.take === undefined) return NO_SNAPSHOTS
    return createSnapshotMaker({
      store: this.#store,
      genesisHash,
      rules: activityRulesOf(genesis),
      take: snapshots.take.bind(snapshots),
      clock,
      onProblem: (error) => this.#options.onProblem?.(error),
    })
  }

  #moveTo(mirror: Mirror, entries: readonly InterpretedEntry[]): void {
    this.#mirror = mirror
    // Without entries the state was loaded anew.
    const touched = entries.length === 0 ? null : touchedVersions(entries).names
    this.#nameReader.moveTo(mirror.head.offset, touched)
    for (const waiter of this.#waiters) if (waiter.offset <= mirror.head.offset) waiter.wake()
    this.#state.onWritten()
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

  async #waitFor(offset: Offset, signal: AbortSignal): Promise<void> {
    if (!isOffset(offset) || offset > this.head().offset + PIN_AHEAD_MAX)
      throw offsetNotReached(offset)
    if (this.#waiters.size >= PIN_WAITERS_MAX)
      throw new ScanError('OVERLOADED', 'Too many reads wait for a later offset.', {
        retryAfterSeconds: 1,
      })
    const reached = new AbortController()
    const waiter = { offset, wake: () => reached.abort() }
    this.#waiters.add(waiter)
    try {
      const { clock } = this.#options
      await clock.delay(PIN_WAIT_MS, anySignal([signal, reached.signal])).catch(() => {})
      signal.throwIfAborted()
    } finally {
      this.#waiters.delete(waiter)
    }
  }

  /** As `#instant`, for what is answered from what is stored. */
  #trusted(offset: Offset): Instant {
    const diverged = this.#state.diverged()
    // No answer is better than one that may be wrong: failures do not vote (Rule 8).
    if (diverged !== null) throw stateDiverged(diverged)
    return this.#instant(offset)
  }

  #instant(offset: Offset): Instant {
    const { head, timeline } = this.#mirror
    // The timeline runs ahead of the head while a write is on its way.
    if (offset > head.offset) throw offsetNotReached(offset)
    const instant = timeline.at(offset)
    if (instant === undefined) throw offsetPruned(offset)
    return instant
  }
}
