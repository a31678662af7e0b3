/**
 * The verified reader: pins a read, asks all nodes, decides each item at its threshold (D-34 to D-39).
 *
 * It keeps the items and their rounds. Counting is in `tally.ts`, pins in `pins.ts`, connections in
 * `links.ts`, requests in `work.ts`; which of these decide is in `decisions.ts`.
 */
import { BATCH_LOOKUPS_MAX, isLookup } from './batch.ts'
import type { Lookup } from './canonical-request.ts'
import { createWebCrypto } from './crypto.ts'
import { DECISIONS, type Decisions } from './decisions.ts'
import { createDirectory } from './directory.ts'
import { createFloor } from './floor.ts'
import { maxFaulty } from './genesis.ts'
import { createHistories, type Fork } from './histories.ts'
import {
  createItem,
  createRound,
  type Item,
  isPruned,
  isSelfPinned,
  type Round,
  STANDING,
} from './item.ts'
import { createLinks, type Link } from './links.ts'
import { isAuthenticated } from './node-url.ts'
import type { Outcome, ReadOptions } from './outcome.ts'
import { decidedOutcome, disputedOutcome, participation } from './outcomes.ts'
import { claimedHead, createPinboard } from './pinboard.ts'
import {
  type NodeStatus,
  type Reader,
  ReaderError,
  type ReaderOptions,
  type ReadRequest,
} from './reader-options.ts'
import { judge, largestGroup } from './tally.ts'
import { createReceiver } from './votes.ts'
import { createWaitingRoom } from './waiting-room.ts'
import { createBatchWork, createProbe, createReadWork, type ItemsWork, roundAt } from './work.ts'

const WAIT_MS = 2000 // D-38: node 250 ms, proxy 2 s, SDK 10 s.
const MAX_AGE_MS = 60_000 // D-39.
/** A node waits 250 ms for an offset (D-10), and its answer has to travel. */
const NODE_WAIT_MS = 300
/** How long the own replica may hold up an answer; it is compared afterwards too. */
const LOCAL_HASH_WAIT_MS = 50
/** A reader that has asked nobody for so long does not know the heads (D-37). */
const IDLE_MS = 1000
const FLOOR_WAIT_MS = 250 // As a node waits for an offset.
const FLOOR_PROBE_MS = 25
const SWEEP_MS = 25
/** Lookups waiting in one reader: half a second of work at full load. */
const ITEMS_WAITING_MAX = 20_000
/** Pages and activities waiting: each holds up to 8 MiB per node. */
const READS_WAITING_MAX = 256
const FORKS_KEPT_MAX = 16
const RETRY_AFTER_MS = { 'not-reached': 250, stale: 1000, floor: 250 } as const

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @param decisions - Only for tests, which break one and watch the checkers.
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createReader(options: ReaderOptions, decisions: Decisions = DECISIONS): Reader {
  const { clock, genesis } = options
  const crypto = options.crypto ?? createWebCrypto()
  const nodeCount = genesis.nodes.length
  const faultyMax = maxFaulty(nodeCount)
  const waitMs = options.waitMs ?? WAIT_MS
  const closing = new AbortController()

  const active = new Set<Item>()
  let readCount = 0
  let askedAtMs = Number.NEGATIVE_INFINITY
  /** When a read last ended. */
  let busyAtMs = Number.NEGATIVE_INFINITY
  let isFlushing = false
  let isSweeping = false
  const forks: Fork[] = []

  // --- Deciding -------------------------------------------------------------------------------

  const settle = (item: Item): void => {
    if (item.isDone) return
    const current = item.rounds.at(-1)
    for (const round of item.rounds) {
      const verdict = judgeRound(item, round)
      if (verdict.kind === 'open') continue
      if (verdict.kind === 'decided') {
        if (isHeldForLocal(round)) return
        if (decideOrNoteStale(item, round, verdict.group)) return
      }
      if (verdict.kind === 'disputed' && (round === current || verdict.reason === 'fork'))
        dispute(item, round, verdict.reason)
      else if (round !== current)
        continue // The second round may still decide.
      else if (verdict.kind === 'insufficient') {
        // What was pruned can be read at a newer offset: nobody is gone.
        if (!isPruned(round) || !repin(item, round)) refuse(item, round)
      }
      // Lagging, or agreed on something too old: once more, lower or newer.
      else if (!repin(item, round)) lag(item, round)
      return
    }
    if (current === undefined && unusableCount(item) > nodeCount - item.threshold)
      refuse(item, undefined)
  }

  const judgeRound = (item: Item, round: Round) => {
    let unusable = 0
    let lagging = 0
    for (const link of links.all) {
      const standing = round.standings[link.index]
      if (standing === STANDING.voted) continue
      if (standing === STANDING.lagging) lagging++
      else if (standing === STANDING.failed || whyUnusable(item, link) !== null) unusable++
    }
    return judge(round.ballot, {
      nodeCount,
      threshold: item.threshold,
      unusableCount: unusable,
      laggingCount: lagging,
      isFork: round.pin !== null && histories.isFork(round.pin),
    })
  }

  const whyUnusable = (item: Item, link: Link): string | null => {
    if (item.isOverdue) return 'no answer'
    if (link.url === null) return directory.isLearning() ? null : 'no address'
    return links.whyUnusable(link, item.asked.kind === 'lookup' ? 'lookup' : 'bulk')
  }

  /** Of nodes that an item without a round can count on. */
  const unusableCount = (item: Item): number =>
    links.all.filter((link) => whyUnusable(item, link) !== null || pinboard.isHeadless(link)).length

  const isHeldForLocal = (round: Round): boolean =>
    round.pin !== null &&
    histories.isUndecided(round.pin) &&
    clock.monotonicMs() - round.startedAtMs < LOCAL_HASH_WAIT_MS

  const decideOrNoteStale = (
    item: Item,
    round: Round,
    group: Round['ballot']['groups'][number],
  ): boolean => {
    const { recordTime, offset } = group.vote
    const nowMicros = clock.nowMicros()
    if (
      !isSelfPinned(item) &&
      decisions.isStale({ recordTime, nowMicros, maxAgeMs: item.maxAgeMs })
    ) {
      item.staleAgeMs = Math.ceil((nowMicros - recordTime) / 1000)
      return false
    }
    for (const other of round.ballot.groups)
      if (other !== group) for (const voter of other.voters) countDissent(voter)
    item.decided = group.vote
    if (!isSelfPinned(item)) floor.raise(offset)
    deliver(
      item,
      decidedOutcome({
        participation: participationOf(item, round, group),
        round,
        group,
        links: links.all,
        isAbsent: decisions.isAbsence(group.vote, nowMicros),
        isTrusted: faultyMax === 0,
      }),
    )
    return true
  }

  const countDissent = (voter: number): void => {
    const link = links.all[voter]
    if (link !== undefined) link.dissentCount++
  }

  const participationOf = (
    item: Item,
    round: Round | undefined,
    group: Round['ballot']['groups'][number] | undefined,
  ) =>
    participation({
      item,
      round,
      group,
      links: links.all,
      nodeCount,
      whyUnusable: (link) => whyUnusable(item, link),
    })

  const dispute = (item: Item, round: Round, reason: 'votes' | 'fork'): void => {
    const part = participationOf(item, round, largestGroup(round.ballot))
    finish(item)
    disputedOutcome({ participation: part, reason, round, links: links.all, crypto }).then(
      item.deliver,
      item.fail,
    )
  }

  const refuse = (item: Item, round: Round | undefined): void => {
    const group = round && largestGroup(round.ballot)
    const isUsable = (link: Link): boolean => {
      const standing = round?.standings[link.index]
      if (standing === STANDING.voted || standing === STANDING.lagging) return true
      return (
        standing !== STANDING.failed &&
        whyUnusable(item, link) === null &&
        !pinboard.isHeadless(link)
      )
    }
    deliver(item, {
      kind: 'insufficient',
      reachable: links.all.filter(isUsable).length,
      needed: item.threshold,
      ...participationOf(item, round, group),
    })
  }

  const lag = (item: Item, round: Round | undefined): void => {
    const reason =
      item.staleAgeMs !== null ? 'stale' : round === undefined ? 'floor' : 'not-reached'
    deliver(item, {
      kind: 'lagging',
      reason,
      wantedOffset: Math.max(round?.pin ?? 0, floor.value(), item.minOffset),
      headOffset: claimedHead(pinboard, item.threshold),
      ageMs: item.staleAgeMs,
      retryAfterMs: RETRY_AFTER_MS[reason],
      ...participationOf(item, round, round && largestGroup(round.ballot)),
    })
  }

  const deliver = (item: Item, outcome: Outcome): void => {
    finish(item)
    item.deliver(outcome)
  }

  const finish = (item: Item): void => {
    item.isDone = true
    busyAtMs = clock.monotonicMs()
    if (active.delete(item) && item.asked.kind === 'read') readCount--
  }

  // --- Pinning and sending --------------------------------------------------------------------

  const pinOf = (item: Item): number | null =>
    pinboard.firstPin(item.threshold, (link) => whyUnusable(item, link) === null)

  /** Starts the second round; false if there was one, or none could do better. */
  const repin = (item: Item, round: Round): boolean => {
    if (item.rounds.length > 1 || round.pin === null || item.isOverdue) return false
    const next = pinboard.nextPin(item, round)
    if (next === null) return false
    item.staleAgeMs = null
    item.nextPin = next
    // Holds the place of the second round, so that there is no third.
    item.rounds.push(startRound(next))
    waitingRoom.enter(item)
    scheduleFlush()
    return true
  }

  const startRound = (pin: number | null): Round => {
    if (pin !== null) histories.watch(pin)
    return createRound({
      pin,
      startedAtMs: clock.monotonicMs(),
      connectionCount: links.all.length,
    })
  }

  const scheduleFlush = (): void => {
    if (isFlushing) return
    isFlushing = true
    // Lookups of the same moment share a batch; a lone one does not wait.
    queueMicrotask(() => {
      isFlushing = false
      if (!closing.signal.aborted) flush()
    })
  }

  const flush = (): void => {
    const rest = waitingRoom.leave()
    // Who cannot be served is told so at once.
    if (rest[0] !== undefined && unusableCount(rest[0]) > 0) for (const item of rest) settle(item)
    if (active.size > 0) startSweeping()
  }

  /** Whether enough nodes have room for another batch; what the others miss waits in their queues. */
  const hasRoom = (item: Item): boolean => {
    let roomy = 0
    let usable = 0
    for (const link of links.all) {
      if (whyUnusable(item, link) !== null) continue
      usable++
      if (links.hasRoom(link, 'lookup')) roomy++
    }
    return roomy > 0 && roomy >= Math.min(item.threshold, usable)
  }

  const dispatch = (work: ItemsWork): void => {
    askedAtMs = clock.monotonicMs()
    for (const item of work.items) {
      item.nextPin = null
      if (roundAt(item, work.pin) === undefined) item.rounds.push(startRound(work.pin))
    }
    for (const link of links.all) links.offer(link, work)
    for (const item of work.items) settle(item)
  }

  const mustSign = (link: Link): boolean =>
    options.requireSignatures !== 'never' && link.url !== null && !isAuthenticated(link.url)

  const probeAll = (): void => {
    askedAtMs = clock.monotonicMs()
    for (const link of links.all) links.offer(link, probe)
  }

  // --- Time -----------------------------------------------------------------------------------

  const startSweeping = (): void => {
    if (isSweeping) return
    isSweeping = true
    sweepLoop().catch(() => {
      isSweeping = false // Closed.
    })
  }

  const sweepLoop = async (): Promise<void> => {
    for (let isBusy = true; isBusy; ) {
      await clock.delay(SWEEP_MS, closing.signal)
      const isInFlight = links.sweep()
      sweepItems()
      isBusy = isInFlight || active.size > 0
    }
    isSweeping = false
  }

  const sweepItems = (): void => {
    const now = clock.monotonicMs()
    if (active.size > 0) keepLearning()
    const recheck = waitingRoom.takeFloored()
    for (const item of recheck) waitingRoom.enter(item)
    if (recheck.length > 0 && now - askedAtMs >= FLOOR_PROBE_MS) probeAll()
    for (const item of active) {
      item.isOverdue = now - item.startedAtMs >= waitMs
      const round = item.rounds.at(-1)
      if (round === undefined) sweepUnasked(item, now)
      else {
        // At the end of the node wait those that lag have said so; the slow ones are not waited for.
        const isLate = now - round.startedAtMs >= NODE_WAIT_MS
        if (isLate && round.standings.includes(STANDING.lagging)) repin(item, round)
        settle(item)
      }
      if (item.isOverdue && !item.isDone) lag(item, item.rounds.at(-1))
    }
    scheduleFlush()
  }

  const sweepUnasked = (item: Item, now: number): void => {
    settle(item)
    const isFloored = item.minOffset > (pinOf(item) ?? item.minOffset)
    if (!item.isDone && isFloored && now - item.startedAtMs >= FLOOR_WAIT_MS) lag(item, undefined)
  }

  const keepLearning = (): void => {
    const isUneasy = links.all.some(
      (link) => link.url === null || links.whyUnusable(link, 'lookup') !== null,
    )
    // What goes wrong there shows as nodes without an address.
    directory.refresh({ isUneasy }).catch(() => {})
    for (const link of links.all) links.pump(link)
  }

  // --- Parts and surface ----------------------------------------------------------------------

  const nodeIndexes = decisions.connections(genesis)
  const nodeAt = (index: number) =>
    genesis.nodes[nodeIndexes[index] as number] as (typeof genesis.nodes)[number]
  const nodeOf = (link: Link) => nodeAt(link.index)
  const probe = createProbe()
  const links = createLinks({
    nodes: nodeIndexes.map((_, index) => nodeAt(index)),
    transport: options.transport,
    clock,
    flightMsMax: waitMs,
    probe,
    judge: decisions.judgeReply,
    onChange: (link) => {
      links.pump(link)
      scheduleFlush()
    },
  })
  const floor = createFloor(options.floorStore)
  const pinboard = createPinboard({
    links: links.all,
    nodeCount,
    decisions,
    floor: floor.value,
    monotonicMs: clock.monotonicMs,
    tryAgain: (afterMs) => {
      // Rejected when the reader closes.
      clock.delay(afterMs, closing.signal).then(scheduleFlush, () => {})
    },
  })
  const waitingRoom = createWaitingRoom({
    pinOf,
    hasRoom,
    sendBatch: (items, pin) => {
      const sign = items[0]?.sign ?? false // Items of one batch are alike in this.
      const atOffset = decisions.atOffset(pin)
      dispatch(createBatchWork({ items, pin, atOffset, sign, mustSign, receive }))
    },
    sendRead: (item, pin) => {
      const atOffset = pin === null ? null : decisions.atOffset(pin)
      const { sign } = item
      dispatch(createReadWork({ item, items: [item], pin, atOffset, sign, mustSign, receive }))
    },
  })
  const receive = createReceiver({
    genesisHash: options.genesisHash,
    scanKeyOf: (link) => nodeOf(link).scanKey,
    crypto,
    decisions,
    onPoint: (link, point) => histories.note(link.name, point),
    onStatement: options.onStatement,
    settle: (item) => settle(item),
  })
  const histories = createHistories({
    faultyMax,
    localHistoryHash: options.localHistoryHash,
    monotonicMs: clock.monotonicMs,
    onFork: (fork) => {
      forks.push(fork)
      if (forks.length > FORKS_KEPT_MAX) forks.shift()
      options.onFork?.(fork)
    },
    onLocal: (offset) => {
      for (const item of active) if (item.rounds.at(-1)?.pin === offset) settle(item)
    },
  })
  const directory = createDirectory({
    reader: options,
    crypto,
    signal: closing.signal,
    onAddress: ({ name, url, sequence }) => {
      for (const link of links.all) {
        if (link.name !== name) continue
        link.url = url
        link.sequence = sequence
        links.pump(link)
      }
      scheduleFlush()
    },
  })

  const start = async (input: {
    readonly asked: readonly Item['asked'][]
    readonly options: ReadOptions
  }): Promise<Outcome[]> => {
    const threshold = decisions.thresholdVotes(input.options.threshold ?? 'weak', nodeCount)
    if (threshold === undefined)
      throw new ReaderError(
        'INVALID_THRESHOLD',
        `no threshold from ${faultyMax + 1} to ${nodeCount}`,
      )
    const { minOffset = 0, maxAgeMs = MAX_AGE_MS, signal } = input.options
    if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
      throw new ReaderError('INVALID_ARGUMENT', 'minOffset and maxAgeMs are not negative')
    signal?.throwIfAborted()
    await floor.load()
    signal?.throwIfAborted() // An abort meanwhile is told to nobody later.
    if (closing.signal.aborted) throw new ReaderError('CLOSED', 'the reader is closed')
    const isLookup = input.asked[0]?.kind !== 'read'
    if (
      active.size + input.asked.length > ITEMS_WAITING_MAX ||
      (!isLookup && readCount >= READS_WAITING_MAX)
    )
      throw new ReaderError('OVERLOADED', 'too many reads are waiting')
    return new Promise((resolve, reject) => {
      const outcomes: Outcome[] = []
      let missing = input.asked.length
      if (missing === 0) return resolve(outcomes)
      if (!isFlushing) wake()
      const items = input.asked.map((asked, index) =>
        createItem({
          asked,
          threshold,
          maxAgeMs,
          startedAtMs: clock.monotonicMs(),
          options: input.options,
          deliver: (outcome) => {
            outcomes[index] = outcome
            if (--missing > 0) return
            signal?.removeEventListener('abort', abort)
            resolve(outcomes)
          },
          fail: (reason) => {
            for (const item of items) finish(item)
            signal?.removeEventListener('abort', abort)
            reject(reason)
          },
        }),
      )
      const abort = () => {
        for (const item of items) finish(item)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      for (const item of items) {
        active.add(item)
        if (!isLookup) readCount++
        waitingRoom.enter(item)
      }
      scheduleFlush()
    })
  }

  /** Starts learning addresses and, after a pause, heads. */
  const wake = (): void => {
    const now = clock.monotonicMs()
    // What was known of failures is too old; while somebody waited, it was kept up to date.
    if (active.size === 0 && now - busyAtMs > IDLE_MS) links.forgive()
    if (now - askedAtMs > IDLE_MS) {
      pinboard.renew(now)
      probeAll()
    }
    keepLearning()
  }

  const nodeStatus = (link: Link): NodeStatus => {
    const why = links.whyUnusable(link, 'lookup')
    const state = why === 'silent' ? 'silent' : why !== null ? 'failing' : 'live'
    return {
      name: link.name,
      url: link.url,
      sequence: link.sequence,
      state: link.latencyMs === null && why === null ? 'unknown' : state,
      head: link.head,
      requests: link.requestCount,
      errors: link.errorCount,
      lastError: link.lastError,
      votes: link.voteCount,
      dissents: link.dissentCount,
      latencyMs: link.latencyMs,
      latencyMsLast: link.latencyMsLast,
    }
  }

  return {
    lookup: async (lookups: readonly Lookup[], readOptions: ReadOptions = {}) => {
      if (lookups.length > BATCH_LOOKUPS_MAX)
        throw new ReaderError('INVALID_ARGUMENT', `more than ${BATCH_LOOKUPS_MAX} lookups`)
      // One that the nodes refuse would take the others of its batch with it.
      if (!lookups.every(isLookup))
        throw new ReaderError('INVALID_ARGUMENT', 'a lookup is by name or by party identifier')
      const asked = lookups.map((lookup) => ({ kind: 'lookup', lookup }) as const)
      return start({ asked, options: readOptions })
    },
    read: async (request: ReadRequest, readOptions: ReadOptions = {}) => {
      const [outcome] = await start({ asked: [{ kind: 'read', request }], options: readOptions })
      return outcome as Outcome // One asked, one answered.
    },
    status: () => ({
      nodeCount,
      faultyMax,
      floor: floor.value(),
      waiting: active.size,
      nodes: links.all.map(nodeStatus),
      forks: [...forks],
    }),
    refreshAddresses: () => directory.refresh({ isUneasy: true, isForced: true }),
    [Symbol.asyncDispose]: async () => {
      if (closing.signal.aborted) return
      const reason = new ReaderError('CLOSED', 'the reader is closed')
      closing.abort(reason)
      links.close(reason)
      for (const item of active) item.fail(reason)
    },
  }
}
