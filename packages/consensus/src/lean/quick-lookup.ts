/**
 * A lookup while nothing is in the way: enough nodes have told their heads, enough say the same at the
 * pin, and it is fresh. Anything else is no answer here, and `reader.ts` reads once more by all the
 * rules; so what is decided here rests on the same rules, and nothing is ever refused here.
 */
import {
  BATCH_LOOKUPS_MAX,
  batchRequest,
  cutBatchAnswer,
  encodeBatch,
  isEntryAnswer,
  isLookup,
} from '../answers/batch.ts'
import { decodeText, type Reply } from '../answers/reply.ts'
import type { TransportReply } from '../nodes/transport.ts'
import type { Lookup } from '../statements/requests.ts'
import { type Node, noteError, noteHead } from '../vote-reader/node.ts'
import type { ReaderBase } from '../vote-reader/reader-base.ts'
import { decidedOutcome } from '../votes/decided.ts'
import { isForkAt } from '../votes/histories.ts'
import type { Decided, ReadOptions } from '../votes/outcome.ts'
import { type Ballot, castVote, createBallot, decidingGroup } from '../votes/tally.ts'

const MAX_AGE_MS = 60_000 // D-39.
/** A reader that has asked nobody for so long does not know the heads (D-37). */
const IDLE_MS = 1000
/** The longest that those that answer first wait for the others: a moment, for a person. */
const GRACE_MS_MAX = 50
/** Lookups at a time; more are better asked together, which is done elsewhere. */
const LOOKUPS_AT_ONCE_MAX = 4
/** As long as the SDK waits (D-38). Whoever wants to wait less asks elsewhere, too. */
const WAIT_MS_MAX = 10_000

/** Resolves with null where something is in the way. @throws The signal's reason; NO_FLOOR. */
export type QuickLookup = (
  lookups: readonly Lookup[],
  options: ReadOptions,
) => Promise<Decided[] | null>

export function createQuickLookup(base: ReaderBase): QuickLookup {
  const { options, decisions, nodes, floor, histories, nodeCount, faultyMax } = base
  const { clock } = options
  let askedAtMs = Number.NEGATIVE_INFINITY
  let lookupCount = 0
  const addressCount = () => nodes.filter(({ url }) => url !== null).length

  /** Asks a node that has an address; whatever comes of it is a reply. */
  const ask = async (
    node: Node,
    input: { readonly lookups: readonly Lookup[]; readonly atOffset: number | null },
    signal: AbortSignal,
  ): Promise<Reply> => {
    if (node.url === null) return { kind: 'failed', reason: 'no address' }
    const lane = node.lanes.lookup
    const startedAtMs = clock.monotonicMs()
    const itemCount = input.lookups.length
    let answer: TransportReply | Error
    node.counters.requests++
    try {
      answer = await options.transport.request({
        ...batchRequest(encodeBatch(input.lookups, { ...input, sign: false }), itemCount),
        url: node.url,
        channel: 'lookup',
        isPublicOnly: options.allowPrivateAddresses !== true,
        signal: AbortSignal.any([signal]), // One each: platforms warn of many listeners to one.
      })
      lane.failureCount = 0
      noteHead(node, answer, clock.monotonicMs())
      node.counters.latencyMs = node.counters.latencyMsLast = clock.monotonicMs() - startedAtMs
    } catch {
      answer = new Error(signal.aborted ? 'no answer' : 'unreachable')
      if (!signal.aborted) lane.failureCount++
    }
    lane.endedAtMs = clock.monotonicMs()
    const reply = decisions.judgeReply(answer, { atOffset: input.atOffset, itemCount })
    if (reply.kind === 'failed') noteError(node, reply.reason)
    return reply
  }

  return async (lookups, readOptions) => {
    const { minOffset = 0, maxAgeMs = MAX_AGE_MS, signal } = readOptions
    const threshold = decisions.thresholdVotes(readOptions.threshold ?? 'weak', nodeCount)
    const isPlain =
      lookups.length > 0 &&
      lookups.length <= BATCH_LOOKUPS_MAX &&
      lookups.every(isLookup) &&
      minOffset >= 0 &&
      maxAgeMs >= 0 &&
      !(readOptions.sign || readOptions.explain || readOptions.headers)
    if (threshold === undefined || !isPlain || lookupCount >= LOOKUPS_AT_ONCE_MAX) return null
    signal?.throwIfAborted()
    await floor.load()
    /** Of the heads that are told first, f may be too low; with f more than needed they cannot pull the pin down. */
    const wantedCount = Math.min(threshold + faultyMax, nodes.length)
    const ending = new AbortController()
    const ends = AbortSignal.any([base.closing.signal, ending.signal, ...(signal ? [signal] : [])])
    const flights: Promise<void>[] = []

    /**
     * Asks all nodes, until it suffices or all have answered. Those that it takes longer than the threshold's
     * worth of nodes, it waits for as long again: a node that hangs costs little.
     */
    const askAll = (
      input: Parameters<typeof ask>[1],
      take: (node: Node, reply: Reply) => boolean,
    ): Promise<void> =>
      new Promise((resolve, reject) => {
        const sinceMs = clock.monotonicMs()
        let repliedCount = 0
        askedAtMs = sinceMs
        const hear = async (node: Node): Promise<void> => {
          const reply = await ask(node, input, ends)
          if (take(node, reply)) resolve()
          if (reply.kind === 'failed' || ++repliedCount !== threshold) return
          const graceMs = Math.min(clock.monotonicMs() - sinceMs, GRACE_MS_MAX)
          clock.delay(graceMs, ends).then(resolve, resolve)
        }
        const all = nodes.map(hear)
        flights.push(...all)
        Promise.all(all).then(() => resolve(), reject)
      })

    const learnHeads = (): Promise<void> => {
      let toldCount = 0
      return askAll(
        { lookups: [], atOffset: null },
        (_, { kind }) => kind === 'answer' && ++toldCount >= wantedCount,
      )
    }

    /** Waits for no more addresses than for heads, nor for a source that hangs. */
    const learnAddresses = (): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (addressCount() >= wantedCount) resolve()
        }
        base.onAddress.add(look)
        const refresh = base.directory.refresh({ isUneasy: addressCount() < nodes.length })
        refresh.finally(() => base.onAddress.delete(look)).then(resolve, reject)
        look()
      })

    const read = async (): Promise<Decided[] | null> => {
      await learnAddresses()
      // Who is not known by its connection has to sign (D-42).
      if (options.requireSignatures !== 'never' && nodes.some(({ isAnonymous }) => isAnonymous))
        return null
      if (clock.monotonicMs() - askedAtMs > IDLE_MS) await learnHeads()
      const heads = nodes.flatMap(({ head }) => head ?? [])
      const pin = decisions.choosePin(heads, { threshold, floor: floor.value() })
      return pin === null || pin < minOffset ? null : vote(pin)
    }

    const vote = async (pin: number): Promise<Decided[] | null> => {
      const atOffset = decisions.atOffset(pin)
      const ballots = lookups.map(createBallot)
      const outcomes: Decided[] = []
      let missingCount = lookups.length
      await askAll({ lookups, atOffset }, (node, reply) => {
        if (reply.kind !== 'answer') return false
        const { point } = reply
        const isPinned = atOffset === null || point.offset === atOffset
        const answers = isPinned && cutBatchAnswer(decodeText(reply.body), lookups.length)
        if (!answers) {
          noteError(node, isPinned ? 'malformed answer' : 'answered another offset')
          return false
        }
        if (atOffset !== null) base.notePoint(node.name, point)
        for (const [index, ballot] of ballots.entries()) {
          const vote = { ...point, answer: answers[index] as Uint8Array<ArrayBuffer> } // One a lookup.
          if (!decisions.isVote(vote)) continue
          node.counters.votes++
          const decided = outcomes[index]
          if (decided !== undefined) {
            if (!decisions.isSameVote(decided, vote)) node.counters.dissents++
            continue
          }
          castVote(ballot, { voter: node.index, vote }, decisions.isSameVote)
          const outcome = decide(ballot, { pin, lookup: lookups[index] as Lookup })
          if (outcome === null) continue
          outcomes[index] = outcome
          missingCount--
        }
        return missingCount === 0
      })
      if (missingCount > 0) return null
      for (const { offset } of outcomes) floor.raise(offset)
      return outcomes
    }

    const decide = (
      ballot: Ballot,
      { pin, lookup }: { readonly pin: number; readonly lookup: Lookup },
    ): Decided | null => {
      const group = decidingGroup(ballot, threshold)
      if (group === undefined || isForkAt(histories, pin)) return null
      const nowMicros = clock.nowMicros()
      const { answer, recordTime } = group.vote
      if (decisions.isStale({ recordTime, nowMicros, maxAgeMs })) return null
      if (!isEntryAnswer(answer, lookup, recordTime)) return null
      for (const other of ballot.groups)
        if (other !== group)
          for (const voter of other.voters) (nodes[voter] as Node).counters.dissents++ // Voters are nodes.
      return decidedOutcome({
        ...{ threshold, ballot, group, nodes, nodeCount, signatures: [] },
        isAbsent: decisions.isAbsence(group.vote, nowMicros),
        isTrusted: faultyMax === 0,
      })
    }

    lookupCount++
    const over = clock
      .delay(WAIT_MS_MAX, ends)
      .catch(() => {})
      .then(() => {
        ending.abort()
        lookupCount--
        return null
      })
    try {
      return await Promise.race([read(), over])
    } finally {
      // Votes that come late are still heard, for forks and dissent.
      Promise.allSettled(flights).then(
        () => ending.abort(),
        () => {},
      )
      signal?.throwIfAborted()
    }
  }
}
