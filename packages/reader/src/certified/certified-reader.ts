/** A reader of answers that one node gives with a proof. What it does is in `policy.ts`. */

import type { Lookup, Sha256 } from '@quorumscan/verifier'
import {
  createWebCrypto,
  maxFaulty,
  type Threshold,
  thresholdVotes,
  toHex,
} from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { sha256 } from '@quorumscan/verifier/certified'
import { BATCH_LOOKUPS_MAX, isLookup } from '../answers/lookups.ts'
import { createFloor } from '../floor.ts'
import { ReaderError, type ReaderOptions } from '../reader-options.ts'
import { createDirectory } from '../source/directory.ts'
import type { Fork } from '../votes/histories.ts'
import type { CertifiedDecisions } from './certified-decisions.ts'
import { type CertifiedOutcome, kindOf, outcomeOf } from './certified-outcome.ts'
import { type Bounds, createDriver } from './driver.ts'
import { type Contradiction, createReaderState } from './reader-state.ts'
import { type CertifiedRequest, requestOfLookups } from './requests.ts'
import { createSharedLookups } from './shared-lookups.ts'
import type { Source } from './sources.ts'

export type CertifiedReaderOptions = Pick<
  ReaderOptions,
  | 'genesis'
  | 'genesisHash'
  | 'seeds'
  | 'transport'
  | 'clock'
  | 'crypto'
  | 'floorStore'
  | 'addressStore'
  | 'allowPrivateAddresses'
> & {
  /** Default: in plain script; Node has a quicker one. */
  readonly sha256?: Sha256 | undefined
  /** How long a read may wait for nodes. Default 10 000 (D-38). */
  readonly waitMs?: number
  /**
   * Whether the seeds are all that may be asked, such as one proxy: no addresses are learned. Nobody else can be
   * heard then, so an answer is believed until it is too old. Default false.
   */
  readonly areSeedsAll?: boolean
  /** Two certificates contradict each other: told once, and nothing is believed from then on. */
  readonly onFork?: (fork: Fork) => void
}

export type CertifiedReadOptions = {
  /** Members that must have signed. Default `weak`. */
  readonly threshold?: Threshold | undefined
  /** Floor for this call (D-39). */
  readonly minOffset?: number | undefined
  /** Default 60 000; Infinity accepts any age. */
  readonly maxAgeMs?: number | undefined
  /** When the caller leaves, by the reader's monotonic clock: what is known is told shortly before. */
  readonly endsAtMs?: number | undefined
  /** Whether the proof may be one of other lookups too. Default true. */
  readonly isShared?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** What is known of an address that may be asked. */
export type CertifiedNodeStatus = {
  /** null: a seed that no node has signed to be its own. */
  readonly name: string | null
  readonly url: string
  /** `unknown`: never answered. `failing`: asked last, for what it sent or did not send. */
  readonly state: 'unknown' | 'live' | 'failing'
  /** Newest offset that it proved to have. */
  readonly head: number | null
  readonly requests: number
  readonly errors: number
  readonly lastError: string | null
  /** Moving average; null before the first answer. */
  readonly latencyMs: number | null
}

export type CertifiedReaderStatus = {
  readonly nodeCount: number
  readonly faultyMax: number
  /** Offset of the newest certificate seen. */
  readonly floor: number
  readonly waiting: number
  readonly nodes: readonly CertifiedNodeStatus[]
  /** What ended all believing, if anything did. */
  readonly fork: Fork | null
}

export interface CertifiedReader extends AsyncDisposable {
  /**
   * Answers in the order asked; lookups of one moment share a request.
   *
   * @throws {ReaderError} OVERLOADED, INVALID_THRESHOLD, INVALID_ARGUMENT (more than 256 lookups), CLOSED, NO_FLOOR.
   * @throws The signal's reason when aborted.
   */
  lookup(
    lookups: readonly Lookup[],
    options?: CertifiedReadOptions,
  ): Promise<CertifiedOutcome<CertifiedEntry | null>[]>
  /** A page or another operation. Throws as `lookup`, and RangeError if it is none that the state answers. */
  read<Answer>(
    request: CertifiedRequest<Answer>,
    options?: CertifiedReadOptions,
  ): Promise<CertifiedOutcome<Answer>>
  status(): CertifiedReaderStatus
  /** Asks for addresses now; resolves when all that could be asked have answered or failed. */
  refreshAddresses(): Promise<void>
}

const WAIT_MS = 10_000 // D-38: node 250 ms, proxy 2 s, SDK 10 s.
const MAX_AGE_MS = 60_000 // D-39.
/** So long before its caller goes a read tells what it knows, */
const TELL_MS = 100
/** of a short time this part. */
const TELL_SHARE = 1 / 10
/** Reads waiting in one reader: so many it has in memory. */
const WAITING_MAX = 20_000

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @param decisions - Only for tests, which break one.
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createCertifiedReader(
  options: CertifiedReaderOptions,
  decisions?: CertifiedDecisions,
): CertifiedReader {
  const { genesis, genesisHash, clock, transport } = options
  const nodeCount = genesis.nodes.length
  const faultyMax = maxFaulty(nodeCount)
  const crypto = options.crypto ?? createWebCrypto()
  const network = { genesis, genesisHash, sha256: options.sha256 ?? sha256 }
  const floor = createFloor(options.floorStore)
  const closing = new AbortController()
  const directory = createDirectory({
    reader: options,
    crypto,
    signal: closing.signal,
    onAddress: ({ name, url }) => driver.tell({ kind: 'located', name, url }),
  })
  const { areSeedsAll = false } = options
  const state = createReaderState({
    faultyMax: areSeedsAll ? 0 : faultyMax,
    seeds: directory.seeds,
    decisions,
  })
  state.isLearning = !areSeedsAll
  const driver = createDriver({
    ...{ state, network, crypto, transport, clock },
    isPrivateAllowed: options.allowPrivateAddresses ?? false,
    onFloor: floor.raise,
    onFork: (points) => options.onFork?.(forkOf(points)),
  })

  const learn = async (isForced = false): Promise<void> => {
    if (areSeedsAll) return
    const named = state.sources.filter(({ name }) => name !== null)
    const isUneasy = named.length < nodeCount || named.some((source) => source.failureCount > 0)
    const refreshed = directory.refresh({ isUneasy, isForced })
    // Addresses that cannot be learned show as nodes without one.
    await refreshed.catch(() => {})
    driver.tell({ kind: 'learning', isOver: !directory.isLearning() })
  }

  const admit = async (read: CertifiedReadOptions): Promise<Bounds> => {
    const { threshold: signers = 'weak', minOffset = 0, maxAgeMs = MAX_AGE_MS, signal } = read
    const threshold = thresholdVotes(signers, nodeCount)
    if (threshold === undefined)
      throw new ReaderError(
        'INVALID_THRESHOLD',
        `the threshold is weak, strong, all or from ${faultyMax + 1} to ${nodeCount}`,
      )
    if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
      throw new ReaderError(
        'INVALID_ARGUMENT',
        'minOffset is a whole number and maxAgeMs a number, neither is negative',
      )
    const startedAtMs = clock.monotonicMs()
    const leavesAtMs = read.endsAtMs ?? Number.POSITIVE_INFINITY
    const tellMs = Math.min(TELL_MS, (leavesAtMs - startedAtMs) * TELL_SHARE)
    const endsAtMs = Math.min(startedAtMs + (options.waitMs ?? WAIT_MS), leavesAtMs - tellMs)
    signal?.throwIfAborted()
    await floor.load()
    driver.tell({ kind: 'remembered', offset: floor.value() })
    signal?.throwIfAborted()
    if (closing.signal.aborted) throw closed()
    if (driver.pendingCount() + shared.waitingCount() >= WAITING_MAX)
      throw new ReaderError('OVERLOADED', 'too many reads are waiting')
    return { signers, threshold, minOffset, maxAgeMs, endsAtMs }
  }

  const ask = async <Answer>(
    asked: CertifiedRequest<Answer>,
    bounds: Bounds,
    signal: AbortSignal | undefined,
  ): Promise<CertifiedOutcome<Answer>> => {
    const asking = driver.ask(asked, bounds, signal)
    void learn()
    const { request } = asked
    const ended = { ...(await asking), request, threshold: bounds.threshold, nodeCount }
    return outcomeOf(ended) as CertifiedOutcome<Answer> // What its question made of the proof.
  }

  const shared = createSharedLookups<Bounds, CertifiedOutcome<CertifiedEntry | null>>(
    async (lookups, bounds, signal) => {
      const outcome = await ask(requestOfLookups(lookups), bounds, signal)
      return lookups.map((_, index) => {
        if (!('answer' in outcome)) return outcome
        const answer = outcome.answer[index] ?? null
        return { ...outcome, answer, kind: kindOf(answer, nodeCount) }
      })
    },
    clock,
  )

  return {
    async lookup(lookups, read = {}) {
      if (lookups.length > BATCH_LOOKUPS_MAX || !lookups.every(isLookup))
        throw new ReaderError(
          'INVALID_ARGUMENT',
          `a lookup is a name or a party, and there are at most ${BATCH_LOOKUPS_MAX}`,
        )
      const bounds = await admit(read)
      if (lookups.length === 0) return []
      const { threshold, minOffset, maxAgeMs } = bounds
      const key = read.isShared === false ? null : `${threshold} ${minOffset} ${maxAgeMs}`
      return shared.lookup({ lookups, options: bounds, key, signal: read.signal })
    },
    async read(request, read = {}) {
      return ask(request, await admit(read), read.signal)
    },
    status: () => ({
      nodeCount,
      faultyMax,
      floor: state.floor,
      waiting: driver.pendingCount() + shared.waitingCount(),
      nodes: state.sources.map((source) => statusOf(source, clock.monotonicMs())),
      fork: state.fork && forkOf(state.fork),
    }),
    refreshAddresses: () => learn(true),
    async [Symbol.asyncDispose]() {
      closing.abort()
      driver.close(closed())
    },
  }
}

function closed(): ReaderError {
  return new ReaderError('CLOSED', 'the reader is closed')
}

function statusOf(source: Source, nowMs: number): CertifiedNodeStatus {
  const { name, url, head, counters, usualMs, badUntilMs, awayUntilMs } = source
  const isFailing = Math.max(badUntilMs, awayUntilMs) > nowMs
  const state = isFailing ? 'failing' : head === null ? 'unknown' : 'live'
  return { name, url, state, head, ...counters, latencyMs: usualMs }
}

function forkOf([a, b]: Contradiction): Fork {
  const histories = [a, b].map(({ historyHash, root, signers }) => ({
    // Where the histories are the same, the states are not.
    historyHash: a.historyHash === b.historyHash ? toHex(root) : historyHash,
    nodes: signers,
  }))
  return { offset: Math.max(a.offset, b.offset), histories }
}
