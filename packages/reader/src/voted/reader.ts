/**
 * The verified reader: pins a read, asks all nodes, decides each item at its threshold (D-34 to D-39). All that
 * is decided is decided by `step.ts`; here are the sockets, the clock and the callers.
 */

import { maxFaulty } from '@quorumscan/verifier'
import { BATCH_LOOKUPS_MAX, isLookup, LOOKUP_NAME_LENGTH_MAX } from '../answers/lookups.ts'
import { overloaded, type Reader, ReaderError, type ReaderOptions } from '../reader-options.ts'
import { PrivateAddressError } from '../source/transport.ts'
import { DECISIONS, type Decisions } from '../votes/decisions.ts'
import type { Outcome, ReadOptions } from '../votes/outcome.ts'
import { withDigests } from './digests.ts'
import type { Asked, Read } from './item.ts'
import type { Effect, Event } from './messages.ts'
import { isSilent } from './node.ts'
import { createQuestions } from './questions.ts'
import { createReaderBase, type ReaderBase } from './reader-base.ts'
import { createState } from './state.ts'
import { step } from './step.ts'

const WAIT_MS = 2000 // D-38: node 250 ms, proxy 2 s, SDK 10 s.
const MAX_AGE_MS = 60_000 // D-39.

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @param decisions - Only for tests, which break one and watch the checkers.
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createReader(options: ReaderOptions, decisions: Decisions = DECISIONS): Reader {
  const base = createReaderBase(options, decisions)
  const { crypto, nodeCount, closing, floor, directory } = base
  const { clock, transport, localHistoryHash, defer = queueMicrotask } = options
  const state = createState({
    ...base,
    waitMs: options.waitMs ?? WAIT_MS,
    hasReplica: localHistoryHash !== undefined,
  })
  const flights = new Map<number, { readonly abort: AbortController; bytesWanted: number }>()
  const questions = createQuestions((reads) => run({ kind: 'cancelled', reads }))
  let readCount = 0
  let isAsking = false
  /** When the clock calls next. */
  let callAtMs = Number.POSITIVE_INFINITY

  const run = (event: Event): void => {
    if (closing.signal.aborted) return
    const now = { ms: clock.monotonicMs(), micros: clock.nowMicros() }
    for (const effect of step(state, event, now)) {
      const carry = carryOut[effect.kind] as (effect: Effect) => void // The one for its kind.
      carry(effect)
    }
    if (state.tickAtMs < callAtMs) callAt(state.tickAtMs)
  }

  const callAt = (atMs: number): void => {
    callAtMs = atMs
    const call = () => {
      if (callAtMs === atMs) callAtMs = Number.POSITIVE_INFINITY
      run({ kind: 'tick' })
    }
    // Rejected when the reader closes.
    clock.delay(Math.ceil(atMs - clock.monotonicMs()), closing.signal).then(call, () => {})
  }

  const carryOut: {
    readonly [Kind in Effect['kind']]: (effect: Effect & { readonly kind: Kind }) => void
  } = {
    send({ flight, url, channel, request }) {
      const sent = { abort: new AbortController(), bytesWanted: request.bytesMax }
      flights.set(flight, sent)
      const landed = (event: Event): void => {
        if (flights.delete(flight)) run(event)
      }
      const input = {
        ...request,
        url,
        channel,
        isPublicOnly: options.allowPrivateAddresses !== true,
        signal: sent.abort.signal,
        bytesWanted: () => sent.bytesWanted,
      }
      // A transport that throws at once is like one that rejects.
      const answer = async () => transport.request(input)
      answer().then(
        (reply) => landed({ kind: 'reply', flight, reply }),
        (error: unknown) => {
          if (!(error instanceof PrivateAddressError)) return landed({ kind: 'failed', flight })
          const node = base.nodes.find((one) => one.url === url)
          if (node !== undefined) base.notePrivate({ name: node.name, url })
          landed({ kind: 'failed', flight, reason: error.message })
        },
      )
    },
    shorten({ flight, bytesWanted }) {
      const sent = flights.get(flight)
      if (sent !== undefined) sent.bytesWanted = bytesWanted
    },
    drop({ flight }) {
      flights.get(flight)?.abort.abort(new Error('no answer'))
      flights.delete(flight)
    },
    compare({ offset }) {
      const tell = (historyHash: string | null) => run({ kind: 'compared', offset, historyHash })
      if (localHistoryHash === undefined) return
      const answer = async () => localHistoryHash(offset)
      // A replica that cannot answer knows nothing; the nodes are compared among themselves.
      answer().then(tell, () => tell(null))
    },
    decide({ read, outcome }) {
      const settle = (told: Outcome) => questions.settle(read, told)
      if ('answer' in outcome) settle(outcome)
      else withDigests(outcome, crypto).then(settle, (reason) => questions.fail(read, () => reason))
    },
    refuse: ({ read }) => questions.fail(read, overloaded),
    keep: (effect) => floor.raise(effect.floor),
    learn({ isUneasy }) {
      const tell = () => {
        if (state.isLearning && !directory.isLearning()) run({ kind: 'learned' })
      }
      // What goes wrong there shows as nodes without an address.
      directory.refresh({ isUneasy }).then(tell, () => {})
    },
    fork: ({ fork }) => base.noteFork(fork),
    heard: ({ reply }) => options.onReply?.(reply),
  }

  /** Questions of the same moment are asked together; a lone one does not wait. */
  const askSoon = (): void => {
    if (isAsking) return
    isAsking = true
    defer(() => {
      isAsking = false
      run({ kind: 'asked', questions: questions.takeNew(), floor: floor.value() })
    })
  }

  const ask = async (asked: readonly Asked[], readOptions: ReadOptions): Promise<Outcome[]> => {
    const { signal } = readOptions
    const how = checkedOptions(readOptions, { decisions, nodeCount })
    signal?.throwIfAborted()
    await floor.load()
    signal?.throwIfAborted() // An abort meanwhile is told to nobody later.
    if (closing.signal.aborted) throw closing.signal.reason
    if (asked.length === 0) return []
    const answered = questions.add(
      asked.map((one) => ({ id: ++readCount, asked: one, ...how })),
      signal,
    )
    askSoon()
    return answered
  }

  base.onAddress.add((address) => run({ kind: 'located', ...address }))
  return {
    lookup: async (lookups, readOptions = {}) => {
      if (lookups.length > BATCH_LOOKUPS_MAX)
        throw new ReaderError('INVALID_ARGUMENT', `more than ${BATCH_LOOKUPS_MAX} lookups`)
      // One that the nodes refuse would take the others of its batch with it.
      if (!lookups.every(isLookup))
        throw new ReaderError(
          'INVALID_ARGUMENT',
          `a name has at most ${LOOKUP_NAME_LENGTH_MAX} characters, a party is <hint>::1220<64 hex digits>`,
        )
      return ask(
        lookups.map((lookup) => ({ kind: 'lookup', lookup })),
        readOptions,
      )
    },
    read: async (request, readOptions = {}) => {
      const [outcome] = await ask([{ kind: 'read', request }], readOptions)
      return outcome as Outcome // One asked, one answered.
    },
    status: () => base.status(state.items.size, (lane) => isSilent(lane, clock.monotonicMs())),
    refreshAddresses: () => directory.refresh({ isUneasy: true, isForced: true }),
    [Symbol.asyncDispose]: async () => {
      if (closing.signal.aborted) return
      const reason = new ReaderError('CLOSED', 'the reader is closed')
      closing.abort(reason)
      for (const { abort } of flights.values()) abort.abort(reason)
      questions.failAll(reason)
    },
  }
}

/** @throws {ReaderError} INVALID_THRESHOLD, INVALID_ARGUMENT. */
function checkedOptions(
  options: ReadOptions,
  { decisions, nodeCount }: Pick<ReaderBase, 'decisions' | 'nodeCount'>,
): Omit<Read, 'id' | 'asked'> {
  const { threshold = 'weak', minOffset = 0, maxAgeMs = MAX_AGE_MS } = options
  const votes = decisions.thresholdVotes(threshold, nodeCount)
  if (votes === undefined) {
    const votesMin = maxFaulty(nodeCount) + 1
    throw new ReaderError(
      'INVALID_THRESHOLD',
      `the threshold is weak, strong, all or from ${votesMin} to ${nodeCount}`,
    )
  }
  if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
    throw new ReaderError(
      'INVALID_ARGUMENT',
      'minOffset is a whole number and maxAgeMs a number, neither is negative',
    )
  return {
    threshold: votes,
    minOffset,
    maxAgeMs,
    headers: options.headers,
  }
}
