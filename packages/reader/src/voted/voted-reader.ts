/**
 * The reader of votes: as many nodes are asked as must agree, and their equal answers decide (D-34 to D-40).
 *
 * Lookups of one moment reach `step.ts` together. It asks the nodes for their heads, chooses the offset to read at (the
 * pin), sends batches to enough nodes and counts the votes. The driver (`../driver/run.ts`) owns sockets, clock
 * and callers. This file provides the rest: addresses, and the history of the local replica to compare with the nodes'.
 */

import {
  type CryptoPort,
  createPlatformCrypto,
  isTrusted,
  type Lookup,
  memberSetOf,
  toHex,
} from '@quorumscan/verifier'
import { timesNow } from '../driver/proven-time.ts'
import { createDriver } from '../driver/run.ts'
import { checkLookups, createReaderBase } from '../reader-base.ts'
import {
  ReaderError,
  type ReaderOptions,
  type ReaderStatus,
  type ReadRequest,
} from '../reader-options.ts'
import type { Address } from '../source/address-book.ts'
import { PrivateAddressError } from '../source/transport.ts'
import type { Fork } from '../votes/histories.ts'
import type { Decided, Outcome, ReadOptions } from '../votes/read-outcome.ts'
import { requestOf } from './ask.ts'
import {
  type CallOutcome,
  createNode,
  createState,
  type Fact,
  nodeStatus,
  type ReaderEvent,
  type ReadTarget,
  type Undecided,
  type VoteGroupWithAnswer,
} from './state.ts'
import { step } from './step.ts'

export type Reader = ReturnType<typeof createReader>

const WAIT_MS = 2000 // D-38: node 250 ms, proxy 2 s, SDK 10 s.
/** A timer that is later than this shows that this process stalled. */
const STALL_MS = 250
const FORKS_MAX = 16
const DIGEST_DIGITS = 16

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is not an http or https URL.
 */
export function createReader(options: ReaderOptions) {
  const { genesis, clock, transport, localHistoryHash, defer, waitMs = WAIT_MS } = options
  const { random = unpredictable } = options
  const nodes = memberSetOf(genesis)
    .members.map(({ name }) => name)
    .filter((name) => isTrusted(options.trust, name))
    .map(createNode)
  /** The last private address reported of each node. */
  const privateUrls = new Map<string, string>()
  const forks: Fork[] = []

  const notePrivate = ({ name, url }: Pick<Address, 'name' | 'url'>): void => {
    if (privateUrls.get(name) === url) return
    privateUrls.set(name, url)
    options.onPrivateAddress?.({ name, url })
  }
  const crypto = options.crypto ?? createPlatformCrypto()
  const base = createReaderBase(
    { ...options, crypto },
    {
      onAddress: (address) => driver.report({ kind: 'located', ...address }),
      onPrivate(address) {
        const lastError = `its address is private: ${address.url}`
        for (const { name, counters } of nodes)
          if (name === address.name) Object.assign(counters, { lastError })
        notePrivate(address)
      },
    },
  )
  const { nodeCount, faultyMax, trust, floor, directory } = base
  const hasReplica = localHistoryHash !== undefined
  const state = createState({ nodes, nodeCount, faultyMax, trust, waitMs, hasReplica, random })

  const note = (fact: Fact): void => {
    switch (fact.kind) {
      case 'compare':
        void compare(fact.offset)
        break
      case 'learn':
        void learn(fact.isUrgent)
        break
      case 'fork':
        forks.push(fact.fork)
        if (forks.length > FORKS_MAX) forks.shift()
        options.onFork?.(fact.fork)
        break
      default:
        options.onReply?.(fact)
    }
  }

  const compare = async (offset: number): Promise<void> => {
    let historyHash: string | null = null
    try {
      historyHash = (await localHistoryHash?.(offset)) ?? null
    } catch {
      // Without the replica, the nodes are only compared among themselves.
    }
    driver.report({ kind: 'compared', offset, historyHash })
  }

  const learn = async (isUrgent: boolean): Promise<void> => {
    // A node whose address cannot be learned is shown without one.
    await directory.refresh({ isUrgent }).catch(() => {})
    if (state.isLearning && !directory.isLearning()) driver.report({ kind: 'learned' })
  }

  const driver = createDriver({
    context: state,
    step(event: ReaderEvent) {
      state.floor = Math.max(state.floor, floor.value())
      step(state, event)
      floor.raise(state.floor)
    },
    asker: (flight, signal) =>
      transport.request({
        ...requestOf(flight.spec),
        url: flight.source.url as string, // It is asked because it has one.
        channel: flight.source.channel,
        isPublicOnly: options.allowPrivateAddresses !== true,
        signal,
        bytesWanted: () => flight.bytesWanted,
      }),
    clock,
    note,
    stallMs: STALL_MS,
    reasonOf(error, { source }) {
      if (!(error instanceof PrivateAddressError)) return 'unreachable'
      notePrivate({ name: source.node.name, url: source.url as string })
      return error.message
    },
    ...(defer && { defer }),
  })

  const ask = async (asked: readonly ReadTarget[], read: ReadOptions): Promise<Outcome[]> => {
    const { threshold, minOffset, maxAgeMs } = await base.checkCall(read, state.itemCount)
    if (asked.length === 0) return []
    const wanted = { asked, threshold, minOffset, maxAgeMs, headers: read.headers }
    const ended: CallOutcome = await driver.ask(wanted, clock.monotonicMs() + waitMs, read.signal)
    if (ended instanceof ReaderError) throw ended
    const isDecided = ended.every((outcome) => 'answer' in outcome)
    return isDecided ? ended : Promise.all(ended.map((outcome) => digested(outcome, base.crypto)))
  }

  return {
    /**
     * Answers in the order asked; lookups of one moment share their requests to the nodes.
     *
     * @throws {ReaderError} OVERLOADED, INVALID_THRESHOLD, INVALID_ARGUMENT (more than 256 lookups), CLOSED.
     * @throws The signal's reason when aborted.
     */
    async lookup(lookups: readonly Lookup[], read: ReadOptions = {}): Promise<Outcome[]> {
      checkLookups(lookups)
      const asked = lookups.map((lookup) => ({ kind: 'lookup', lookup }) as const)
      return ask(asked, read)
    },
    /** A page or another operation, on the connections for large answers. Throws as `lookup`. */
    async read(request: ReadRequest, read: ReadOptions = {}): Promise<Outcome> {
      const [outcome] = await ask([{ kind: 'read', request }], read)
      return outcome as Outcome // One asked, one answered.
    },
    status: (): ReaderStatus => ({
      nodeCount,
      faultyMax,
      floor: floor.value(),
      waiting: state.itemCount,
      clock: { skewMs: timesNow(state, clock).clockSkewMs },
      nodes: nodes.map((node) => nodeStatus(node, state.nowMs)),
      forks: [...forks],
    }),
    /** Asks for addresses now; resolves when all sources have answered or failed. */
    refreshAddresses: () => directory.refresh({ isUrgent: true, isForced: true }),
    async [Symbol.asyncDispose](): Promise<void> {
      driver.close(base.close())
    },
  }
}

/** From 0 to below 1. */
function unpredictable(): number {
  const [drawn = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1))
  return drawn / 2 ** 32
}

/** Replaces the answers of a dispute by their digests. */
async function digested(outcome: Decided | Undecided, crypto: CryptoPort): Promise<Outcome> {
  if (outcome.kind !== 'disputed') return outcome
  const digest = async ({ answer, ...group }: VoteGroupWithAnswer) => ({
    ...group,
    answerDigest: toHex(await crypto.sha256(answer)).slice(0, DIGEST_DIGITS),
  })
  return { ...outcome, groups: await Promise.all(outcome.groups.map(digest)) }
}
