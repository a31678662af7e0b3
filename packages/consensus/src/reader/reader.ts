/**
 * The verified reader: pins a read, asks all nodes, decides each item at its threshold (D-34 to D-39).
 *
 * It puts the parts together and moves items between them: taken in by `questions.ts`, sent by
 * `unsent-items.ts` and `links.ts`, counted by `votes.ts`, ended by `decide-items.ts`, kept moving by
 * `timeouts.ts`. Which rules decide is in `decisions.ts`.
 */

import { BATCH_LOOKUPS_MAX, isLookup } from '../answers/batch.ts'
import { type Link, whyUnusable } from '../nodes/link.ts'
import { createLinks } from '../nodes/links.ts'
import { isAuthenticated } from '../nodes/node-url.ts'
import type { Lookup } from '../statements/requests.ts'
import { createClaimedHeads } from '../votes/claimed-heads.ts'
import { DECISIONS, type Decisions } from '../votes/decisions.ts'
import type { Outcome, ReadOptions } from '../votes/outcome.ts'
import { createOwnHistory } from '../votes/own-history.ts'
import { createUsability, isSilent } from '../votes/usability.ts'
import { createReceiver } from '../votes/votes.ts'
import { createActiveItems } from './active-items.ts'
import { createItemDecider } from './decide-items.ts'
import { createRound, type Item, type Round } from './item.ts'
import { createBatchWork, createProbe, type ItemsWork, roundAt } from './node-requests.ts'
import { createReadWork } from './page-requests.ts'
import { createQuestions } from './questions.ts'
import { createReaderBase, type ReaderBase } from './reader-base.ts'
import { type Reader, ReaderError, type ReaderOptions, type ReadRequest } from './reader-options.ts'
import { createTimeouts } from './timeouts.ts'
import { createUnsentItems } from './unsent-items.ts'

const WAIT_MS = 2000 // D-38: node 250 ms, proxy 2 s, SDK 10 s.
/** Of its time a lookup may wait to be sent; with the rest it is answered. */
const QUEUE_SHARE = 1 / 4
/** A reader that has asked nobody for so long does not know the heads (D-37). */
const IDLE_MS = 1000

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @param decisions - Only for tests, which break one and watch the checkers.
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createReader(options: ReaderOptions, decisions: Decisions = DECISIONS): Reader {
  return createReaderOf(createReaderBase(options, decisions))
}

/** Makes the base a reader that reads by all the rules; it has what the base knows already. */
export function createReaderOf(base: ReaderBase): Reader {
  const { options, decisions, crypto, nodeCount, closing, floor, histories } = base
  const { directory } = base
  const { clock } = options
  const waitMs = options.waitMs ?? WAIT_MS
  const defer = options.defer ?? queueMicrotask
  let askedAtMs = Number.NEGATIVE_INFINITY
  let isFlushing = false

  const accept = (items: readonly Item[]): void => {
    if (!isFlushing) wake()
    for (const item of items) {
      active.add(item)
      unsent.add(item)
    }
    scheduleFlush()
  }

  /** Starts learning addresses and, after a pause, heads. */
  const wake = (): void => {
    const now = clock.monotonicMs()
    // What was known of failures is too old; while somebody waited, it was kept up to date.
    if (active.all.size === 0 && now - active.finishedAtMs() > IDLE_MS) links.forgive()
    if (now - askedAtMs > IDLE_MS) {
      heads.renew(now)
      probeAll()
    }
    keepLearning()
  }

  const scheduleFlush = (): void => {
    if (isFlushing) return
    isFlushing = true
    // Lookups of the same moment share a batch; a lone one does not wait.
    defer(() => {
      isFlushing = false
      if (!closing.signal.aborted) flush()
    })
  }

  const flush = (): void => {
    const rest = unsent.send()
    // Who cannot be served is told so at once.
    if (rest[0] !== undefined && usability.unusableCount(rest[0]) > 0)
      for (const item of rest) decider.decide(item)
    if (active.all.size > 0) timeouts.start()
  }

  const dispatch = (work: ItemsWork): void => {
    askedAtMs = clock.monotonicMs()
    for (const item of work.items) {
      item.nextPin = null
      if (roundAt(item, work.pin) === undefined) item.rounds.push(startRound(work.pin))
    }
    for (const link of links.all) links.offer(link, work)
    for (const item of work.items) decider.decide(item)
  }

  const startRound = (pin: number | null): Round => {
    if (pin !== null) local?.watch(pin)
    return createRound({
      pin,
      startedAtMs: clock.monotonicMs(),
      connectionCount: links.all.length,
    })
  }

  const pinOf = (item: Item): number | null =>
    heads.firstPin(item.threshold, (link) => usability.why(item, link) === null)

  /** Starts the second round; false if there was one, or none could do better. */
  const repin = (item: Item, round: Round): boolean => {
    if (item.rounds.length > 1 || round.pin === null || item.isOverdue) return false
    const next = heads.nextPin(item, round)
    if (next === null) return false
    item.staleAgeMs = null
    item.nextPin = next
    // Holds the place of the second round, so that there is no third.
    item.rounds.push(startRound(next))
    unsent.add(item)
    scheduleFlush()
    return true
  }

  const probeAll = (): void => {
    askedAtMs = clock.monotonicMs()
    for (const link of links.all) links.offer(link, probe)
  }

  const keepLearning = (): void => {
    const isUneasy = links.all.some(
      (link) => link.url === null || whyUnusable(link, 'lookup') !== null,
    )
    // What goes wrong there shows as nodes without an address.
    directory.refresh({ isUneasy }).catch(() => {})
    for (const link of links.all) links.pump(link)
  }

  const mustSign = (link: Link): boolean =>
    options.requireSignatures !== 'never' && link.url !== null && !isAuthenticated(link.url)

  const active = createActiveItems(clock.monotonicMs)
  const probe = createProbe()
  const links = createLinks({
    all: base.links,
    transport: options.transport,
    clock,
    flightMsMax: waitMs,
    isPublicOnly: options.allowPrivateAddresses !== true,
    probe,
    judge: decisions.judgeReply,
    onReply: options.onReply,
    onSend: () => timeouts.start(),
    onChange: (link) => {
      links.pump(link)
      scheduleFlush()
    },
  })
  const heads = createClaimedHeads({
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
  base.onAddress.add((link) => {
    links.pump(link)
    scheduleFlush()
  })
  const { localHistoryHash } = options
  const local =
    localHistoryHash &&
    createOwnHistory({
      localHistoryHash,
      monotonicMs: clock.monotonicMs,
      onAnswer: (offset, historyHash) => {
        if (historyHash !== null) histories.note(null, { offset, historyHash })
        for (const item of active.all) if (item.rounds.at(-1)?.pin === offset) decider.decide(item)
      },
    })
  const usability = createUsability({
    links,
    heads,
    isGone: decisions.isGone,
    monotonicMs: clock.monotonicMs,
    isLearning: directory.isLearning,
  })
  const decider = createItemDecider({
    links: links.all,
    nodeCount,
    clock,
    crypto,
    decisions,
    active,
    heads,
    histories,
    local,
    floor,
    usability,
    repin,
  })
  const receive = createReceiver({
    genesisHash: options.genesisHash,
    crypto,
    decisions,
    onPoint: (link, point) => histories.note(link.name, point),
    onStatement: options.onStatement,
    decide: decider.decide,
  })
  const unsent = createUnsentItems({
    pinOf,
    hasRoom: usability.hasRoom,
    isTooLate: (item) => clock.monotonicMs() - item.startedAtMs > waitMs * QUEUE_SHARE,
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
  const timeouts = createTimeouts({
    clock,
    signal: closing.signal,
    isStalled: decisions.isStalled,
    active,
    links,
    unsent,
    decider,
    pinOf,
    repin,
    askedAtMs: () => askedAtMs,
    probeAll,
    keepLearning,
    scheduleFlush,
  })
  const ask = createQuestions({
    nodeCount,
    clock,
    decisions,
    floor,
    active,
    waitMs,
    closing: closing.signal,
    accept,
  })

  return {
    lookup: async (lookups: readonly Lookup[], readOptions: ReadOptions = {}) => {
      if (lookups.length > BATCH_LOOKUPS_MAX)
        throw new ReaderError('INVALID_ARGUMENT', `more than ${BATCH_LOOKUPS_MAX} lookups`)
      // One that the nodes refuse would take the others of its batch with it.
      if (!lookups.every(isLookup))
        throw new ReaderError(
          'INVALID_ARGUMENT',
          'a name has at most 255 characters, a party is <hint>::1220<64 hex digits>',
        )
      const asked = lookups.map((lookup) => ({ kind: 'lookup', lookup }) as const)
      return ask({ asked, options: readOptions })
    },
    read: async (request: ReadRequest, readOptions: ReadOptions = {}) => {
      const [outcome] = await ask({ asked: [{ kind: 'read', request }], options: readOptions })
      return outcome as Outcome // One asked, one answered.
    },
    status: () => base.status(active.all.size, (lane) => isSilent(lane, clock.monotonicMs())),
    refreshAddresses: () => directory.refresh({ isUneasy: true, isForced: true }),
    [Symbol.asyncDispose]: async () => {
      if (closing.signal.aborted) return
      const reason = new ReaderError('CLOSED', 'the reader is closed')
      closing.abort(reason)
      links.close(reason)
      for (const item of active.all) item.fail(reason)
    },
  }
}
