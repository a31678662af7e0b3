/**
 * The verified reader: pins a read, asks all nodes, decides each item at its threshold (D-34 to D-39).
 *
 * It keeps the items and their rounds. Counting is in `tally.ts`, pins in `pins.ts`, connections in
 * `links.ts`, requests in `work.ts`; which of these decide is in `decisions.ts`.
 */
import { BATCH_LOOKUPS_MAX, isLookup } from './batch.ts'
import { fromHex, toHex } from './bytes.ts'
import { canonicalRequest, type Lookup } from './canonical-request.ts'
import { createWebCrypto } from './crypto.ts'
import { DECISIONS, type Decisions } from './decisions.ts'
import { createDirectory } from './directory.ts'
import { maxFaulty } from './genesis.ts'
import { createHistories, type Fork } from './histories.ts'
import {
  createItem,
  createRound,
  type Item,
  isSelfPinned,
  type Round,
  requestOfItem,
  STANDING,
} from './item.ts'
import { createLinks, type Link, noteError } from './links.ts'
import { isAuthenticated } from './node-url.ts'
import type { Outcome, ReadOptions } from './outcome.ts'
import { decidedOutcome, disputedOutcome, participation } from './outcomes.ts'
import { chooseNextPin, claimedByMany, pinThreshold } from './pins.ts'
import {
  type FloorStore,
  type NodeStatus,
  type Reader,
  ReaderError,
  type ReaderOptions,
  type ReadRequest,
} from './reader-options.ts'
import type { Reply } from './reply.ts'
import { encodeAnswerStatement } from './statements.ts'
import { castVote, judge, largestGroup, type Vote } from './tally.ts'
import {
  createBatchWork,
  createProbe,
  createReadWork,
  type ItemsWork,
  isVoteWanted,
  type Receiver,
  roundAt,
} from './work.ts'

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
  /** Items that wait for a pin or for room, by what they can share a request with. */
  const waitingByKey = new Map<string, Item[]>()
  /** Items whose `minOffset` no pin reaches yet. */
  let floored: Item[] = []
  let floor = 0
  let floorLoad: Promise<void> | undefined
  let isSavingFloor = false
  let askedAtMs = Number.NEGATIVE_INFINITY
  /** When a read last ended. */
  let busyAtMs = Number.NEGATIVE_INFINITY
  /** Heads told before this are not enough for a first pin. */
  let headsSinceMs = 0
  let isFlushing = false
  let isSweeping = false
  const forks: Fork[] = []

  const receive: Receiver = ({ work, link, reply }) => {
    if (reply.kind !== 'answer') return standAside(work, link, reply)
    if (work.atOffset !== null && reply.point.offset !== work.atOffset)
      return reject(work, link, 'answered another offset')
    const isSigned = work.isSigned(link)
    const votes = work.votesOf(reply, isSigned)
    if (votes === undefined) return reject(work, link, 'malformed answer')
    if (!isSigned) {
      if (work.atOffset !== null) histories.note(link.name, reply.point)
      for (const [index, item] of work.items.entries())
        takeVote({ work, link, item, vote: votes.votes[index] as Vote, signature: null })
      return
    }
    for (const [index, item] of work.items.entries()) {
      const vote = votes.votes[index] as Vote
      const signature = votes.signatures?.[index] ?? ''
      checkSignature({ link, item, vote, signature }).then((isValid) => {
        if (!isValid) return reject({ ...work, items: [item] }, link, 'signature of another key')
        if (work.atOffset !== null) histories.note(link.name, vote)
        takeVote({ work, link, item, vote, signature })
      }, item.fail)
    }
  }

  /** An answer with status 200 that is no vote. */
  const reject = (work: Pick<ItemsWork, 'items' | 'pin'>, link: Link, reason: string): void => {
    noteError(link, reason)
    standAside(work, link, { kind: 'failed', reason })
  }

  /** The node does not vote on these. */
  const standAside = (
    work: Pick<ItemsWork, 'items' | 'pin'>,
    link: Link,
    reply: Exclude<Reply, { readonly kind: 'answer' }>,
  ): void => {
    for (const item of work.items) {
      const round = roundAt(item, work.pin)
      if (round === undefined || !isVoteWanted(item, work.pin, link)) continue
      const isLagging = reply.kind === 'lagging' && reply.reason === 'not-reached'
      // A node that pruned the offset is of no use for it; a lower one would not help either.
      round.standings[link.index] = isLagging ? STANDING.lagging : STANDING.failed
      round.reasons.set(link.index, reply.reason)
      settle(item)
    }
  }

  const takeVote = (input: {
    readonly work: ItemsWork
    readonly link: Link
    readonly item: Item
    readonly vote: Vote
    readonly signature: string | null
  }): void => {
    const { item, link, vote } = input
    if (!decisions.isVote(vote)) return
    if (item.isDone) {
      noteLateVote(item, link, vote)
      return
    }
    const round = roundAt(item, input.work.pin)
    if (round === undefined || round.standings[link.index] === STANDING.voted) return
    round.standings[link.index] = STANDING.voted
    round.reasons.delete(link.index)
    if (input.signature !== null) round.signatures.set(link.index, input.signature)
    link.voteCount++
    castVote(round.ballot, { voter: link.index, vote }, decisions.isSameVote)
    settle(item)
  }

  const noteLateVote = (item: Item, link: Link, vote: Vote): void => {
    if (item.decided === null || item.decided.offset !== vote.offset) return
    link.voteCount++
    if (!decisions.isSameVote(item.decided, vote)) link.dissentCount++
  }

  const checkSignature = async (input: {
    readonly link: Link
    readonly item: Item
    readonly vote: Vote
    readonly signature: string
  }): Promise<boolean> => {
    const { item, vote } = input
    item.requestHash ??= hashOf(canonicalRequest(requestOfItem(item)))
    const statement = {
      genesisHash: options.genesisHash,
      offset: vote.offset,
      recordTime: vote.recordTime,
      historyHash: vote.historyHash,
      requestHash: await item.requestHash,
      answerHash: await hashOf(vote.answer),
    }
    const node = genesis.nodes[nodeIndexes[input.link.index] as number]
    const isValid =
      node !== undefined &&
      (await crypto.verifyEd25519({
        publicKey: fromHex(node.scanKey),
        signature: fromHex(input.signature),
        message: encodeAnswerStatement(statement),
      }))
    if (isValid)
      options.onStatement?.({ ...statement, node: input.link.name, signature: input.signature })
    return isValid
  }

  const hashOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
    toHex(await crypto.sha256(bytes))

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
      else if (verdict.kind === 'insufficient') refuse(item, round)
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
    if (isOverdue(item)) return 'no answer'
    if (link.url === null) return directory.isLearning() ? null : 'no address'
    return links.whyUnusable(link, item.asked.kind === 'lookup' ? 'lookup' : 'bulk')
  }

  /** Of nodes that an item without a round can count on. */
  const unusableCount = (item: Item): number =>
    links.all.filter((link) => whyUnusable(item, link) !== null || isHeadless(link)).length

  /** Asked for its head, the node answered something else. */
  const isHeadless = (link: Link): boolean =>
    link.headAtMs < headsSinceMs && link.lanes.lookup.endedAtMs >= headsSinceMs

  const isOverdue = (item: Item): boolean => clock.monotonicMs() - item.startedAtMs >= waitMs

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
    if (!isSelfPinned(item)) raiseFloor(offset)
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
      return standing !== STANDING.failed && whyUnusable(item, link) === null && !isHeadless(link)
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
      wantedOffset: Math.max(round?.pin ?? 0, floor, item.minOffset),
      headOffset: claimedByMany(heads(), item.threshold),
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

  const raiseFloor = (offset: number): void => {
    if (offset <= floor) return
    floor = offset
    if (options.floorStore === undefined || isSavingFloor) return
    isSavingFloor = true
    saveFloor(options.floorStore).catch(() => {
      isSavingFloor = false // A floor that cannot be stored does not stop reading.
    })
  }

  /** One save at a time, always of the newest. */
  const saveFloor = async (store: FloorStore): Promise<void> => {
    for (let saved = -1; saved < floor; ) {
      saved = floor
      await store.save(saved)
    }
    isSavingFloor = false
  }

  // --- Pinning and sending --------------------------------------------------------------------

  const heads = (): number[] => links.all.flatMap((link) => (link.head === null ? [] : [link.head]))

  /** The pin of an item's first round; null while too few nodes have told their heads. */
  const pinFor = (item: Item): number | null => {
    const known = heads()
    const shared = pinThreshold(item.threshold, nodeCount)
    const fresh = links.all.filter((link) => link.headAtMs >= headsSinceMs).length
    if (fresh < shared && links.all.some((link) => isHeadAwaited(item, link))) return null
    // Where fewer than the shared threshold ever answered, the item's own may still be met.
    const threshold = Math.max(item.threshold, Math.min(shared, known.length))
    return decisions.choosePin(known, { threshold, floor })
  }

  const isHeadAwaited = (item: Item, link: Link): boolean =>
    link.headAtMs < headsSinceMs && !isHeadless(link) && whyUnusable(item, link) === null

  const repin = (item: Item, round: Round): boolean => {
    if (item.rounds.length > 1 || round.pin === null || isOverdue(item)) return false
    const answered = links.all.filter((link) =>
      ([STANDING.voted, STANDING.lagging] as number[]).includes(
        round.standings[link.index] as number,
      ),
    )
    const head = (link: Link): number => link.head ?? 0
    const isLagging = (link: Link): boolean => round.standings[link.index] === STANDING.lagging
    const next =
      item.staleAgeMs === null
        ? chooseNextPin({
            laggingHeads: answered.filter(isLagging).map(head),
            answeredHeads: answered.map(head),
            largestGroupSize: largestGroup(round.ballot)?.voters.length ?? 0,
            threshold: item.threshold,
            floor: Math.max(floor, item.minOffset),
          })
        : decisions.choosePin(heads(), {
            threshold: item.threshold,
            floor: Math.max(floor, item.minOffset),
          })
    if (next === null || (item.staleAgeMs !== null && next <= round.pin)) return false
    item.staleAgeMs = null
    item.nextPin = next
    // Holds the place of the second round, so that there is no third.
    item.rounds.push(startRound(next))
    enqueue(item)
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

  const enqueue = (item: Item): void => {
    const pinned = item.nextPin ?? `t${pinThreshold(item.threshold, nodeCount)}`
    const key = `${item.asked.kind}:${pinned}:${item.sign}`
    const waiting = waitingByKey.get(key)
    if (waiting === undefined) waitingByKey.set(key, [item])
    else waiting.push(item)
    scheduleFlush()
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
    for (const [key, waiting] of waitingByKey) {
      const rest = sendWaiting(waiting)
      // Who cannot be served is told so at once.
      if (rest[0] !== undefined && unusableCount(rest[0]) > 0) for (const item of rest) settle(item)
      if (rest.length === 0) waitingByKey.delete(key)
      else waitingByKey.set(key, rest)
    }
    if (active.size > 0) startSweeping()
  }

  /** Sends what has a pin and room; returns what goes on waiting. */
  const sendWaiting = (waiting: readonly Item[]): Item[] => {
    const open = waiting.filter((item) => !item.isDone)
    const lookups: Item[] = []
    const rest: Item[] = []
    let position = 0
    let pin: number | null = null
    for (; position < open.length && lookups.length < BATCH_LOOKUPS_MAX; position++) {
      const item = open[position] as Item
      if (isSelfPinned(item)) {
        sendRead(item, null)
        continue
      }
      pin ??= item.nextPin ?? pinFor(item)
      if (pin === null) break
      if (item.minOffset > pin) floored.push(item)
      else if (item.asked.kind === 'read') sendRead(item, pin)
      else if (hasRoom(item)) lookups.push(item)
      else break
    }
    if (pin !== null && lookups.length > 0) sendBatch(lookups, pin)
    rest.push(...open.slice(position))
    return lookups.length === BATCH_LOOKUPS_MAX ? sendWaiting(rest) : rest
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

  const sendBatch = (items: readonly Item[], pin: number): void => {
    const work = createBatchWork({
      items,
      pin,
      atOffset: decisions.atOffset(pin),
      sign: (items[0] as Item).sign, // Items that wait together are alike in this.
      mustSign,
      receive,
    })
    dispatch(work)
  }

  const sendRead = (item: Item, pin: number | null): void => {
    const atOffset = pin === null ? null : decisions.atOffset(pin)
    dispatch(
      createReadWork({ item, items: [item], pin, atOffset, sign: item.sign, mustSign, receive }),
    )
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
    const recheck = floored
    floored = []
    for (const item of recheck) if (!item.isDone) enqueue(item)
    if (recheck.length > 0 && now - askedAtMs >= FLOOR_PROBE_MS) probeAll()
    for (const item of active) {
      const round = item.rounds.at(-1)
      if (round === undefined) sweepUnasked(item, now)
      else {
        // At the end of the node wait those that lag have said so; the slow ones are not waited for.
        const isLate = now - round.startedAtMs >= NODE_WAIT_MS
        if (isLate && round.standings.includes(STANDING.lagging)) repin(item, round)
        settle(item)
      }
      if (isOverdue(item) && !item.isDone) lag(item, item.rounds.at(-1))
    }
    scheduleFlush()
  }

  const sweepUnasked = (item: Item, now: number): void => {
    settle(item)
    const isFloored = item.minOffset > (pinFor(item) ?? item.minOffset)
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
  const probe = createProbe()
  const links = createLinks({
    nodes: nodeIndexes.map((index) => genesis.nodes[index] as (typeof genesis.nodes)[number]),
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
    await loadFloor()
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
      if (missing === 0) resolve(outcomes)
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
        enqueue(item)
      }
    })
  }

  /** Starts learning addresses and, after a pause, heads. */
  const wake = (): void => {
    const now = clock.monotonicMs()
    // What was known of failures is too old; while somebody waited, it was kept up to date.
    if (active.size === 0 && now - busyAtMs > IDLE_MS) links.forgive()
    if (now - askedAtMs > IDLE_MS) {
      headsSinceMs = now
      probeAll()
    }
    keepLearning()
  }

  const loadFloor = (): Promise<void> | undefined => {
    if (options.floorStore === undefined) return undefined
    floorLoad ??= options.floorStore.load().then(
      (stored) => {
        floor = Math.max(floor, stored)
      },
      (cause) => {
        floorLoad = undefined
        throw new ReaderError('NO_FLOOR', 'the stored floor cannot be read', { cause })
      },
    )
    return floorLoad
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
      floor,
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
      for (const item of active) {
        finish(item)
        item.fail(reason)
      }
    },
  }
}
