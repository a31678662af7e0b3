/**
 * A reader of answers that one node gives with a proof.
 *
 * `decider.ts` puts lookups of the same moment together to one read, and says whom to ask for it, and whom else when
 * that node is late; the driver (`driver/run.ts`) sends, and keeps time; `asker.ts`
 * makes the request and verifies the proof; `belief.ts` says whether what is proven is recent enough. What nodes do is
 * kept as `source/source.ts`, by which the next one to ask is chosen. `outcome.ts` has what a read can end in.
 */

import { type Lookup, type Sha256, toHex } from '@quorumscan/verifier'
import { type CertifiedEntry, sha256 } from '@quorumscan/verifier/certified'
import { type Bounds, checkLookups, createReaderBase } from '../base.ts'
import { NEVER } from '../driver/decider.ts'
import { createDriver } from '../driver/run.ts'
import type { NodeStatus, ReaderOptions, ReaderStatus } from '../reader-options.ts'
import type { Known } from '../source/source.ts'
import type { Fork } from '../votes/histories.ts'
import type { ReadOptions } from '../votes/outcome.ts'
import { createAsker } from './asker.ts'
import { step } from './decider.ts'
import type { CertifiedDecisions } from './decisions.ts'
import { type CertifiedOutcome, outcomeOf } from './outcome.ts'
import type { CertifiedRequest } from './requests.ts'
import {
  type Contradiction,
  createReaderState,
  type Ended,
  type ReaderEvent,
  type Wanted,
} from './state.ts'

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

export type CertifiedReadOptions = Omit<ReadOptions, 'headers'> & {
  /** When the caller leaves, by the reader's monotonic clock: what is known is told shortly before. */
  readonly endsAtMs?: number | undefined
  /** Whether the proof may be one of other lookups too. Default true. */
  readonly isShared?: boolean | undefined
}

/** What is known of an address that may be asked. */
export type CertifiedNodeStatus = Pick<NodeStatus, 'requests' | 'errors' | 'lastError'> & {
  /** null: a seed that no node has signed to be its own. */
  readonly name: string | null
  readonly url: string
  /** `unknown`: never answered. `failing`: asked last, for what it sent or did not send. */
  readonly state: 'unknown' | 'live' | 'failing'
  /** Newest offset that it proved to have. */
  readonly head: number | null
  /** Moving average; null before the first answer. */
  readonly latencyMs: number | null
}

export type CertifiedReaderStatus = Pick<ReaderStatus, 'nodeCount' | 'faultyMax' | 'waiting'> & {
  /** Offset of the newest certificate seen. */
  readonly floor: number
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
/** So long before its caller goes a read tells what it knows, */
const TELL_MS = 100
/** of a short time this part. */
const TELL_SHARE = 1 / 10
/** A timer that is later than this says that the process stalled. */
const STALL_MS = 100

type Looked = CertifiedOutcome<CertifiedEntry | null>

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
  const { genesis, genesisHash, clock, transport, areSeedsAll = false } = options
  const network = { genesis, genesisHash, sha256: options.sha256 ?? sha256 }
  const base = createReaderBase(options, {
    onAddress: ({ name, url }) => driver.tell({ kind: 'located', name, url }),
  })
  const { nodeCount, faultyMax, crypto, floor, directory } = base
  const state = createReaderState(directory.seeds, areSeedsAll ? 0 : faultyMax, decisions)
  state.isLearning = !areSeedsAll
  const isPrivateAllowed = options.allowPrivateAddresses ?? false
  const driver = createDriver({
    world: state,
    step(event: ReaderEvent) {
      state.floor = Math.max(state.floor, floor.value())
      step(state, event)
      floor.raise(state.floor)
    },
    asker: createAsker({ transport, network, crypto, isPrivateAllowed }),
    clock,
    note: (points) => options.onFork?.(forkOf(points)),
    isStalled: (missedMs) => missedMs > STALL_MS,
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

  const ask = async (
    read: CertifiedReadOptions,
    asked: Omit<Wanted, keyof Bounds>,
  ): Promise<Ended & Bounds> => {
    const startedAtMs = clock.monotonicMs()
    const leavesAtMs = read.endsAtMs ?? NEVER
    const tellMs = Math.min(TELL_MS, (leavesAtMs - startedAtMs) * TELL_SHARE)
    const endsAtMs = Math.min(startedAtMs + (options.waitMs ?? WAIT_MS), leavesAtMs - tellMs)
    const bounds = await base.admit(read, driver.waitingCount())
    const asking = driver.ask({ ...bounds, ...asked }, endsAtMs, read.signal)
    void learn()
    return { ...bounds, ...(await asking) }
  }

  return {
    async lookup(lookups, read = {}) {
      checkLookups(lookups)
      if (lookups.length === 0) return []
      const { threshold = 'weak', minOffset = 0, maxAgeMs } = read
      const key = read.isShared === false ? null : `${threshold} ${minOffset} ${maxAgeMs}`
      const ended = await ask(read, { lookups, key })
      // What its question made of the proof.
      return lookups.map((_, index) => outcomeOf(ended, nodeCount, index)) as Looked[]
    },
    async read<Answer>(request: CertifiedRequest<Answer>, read: CertifiedReadOptions = {}) {
      const question = request.question(network)
      const ended = await ask(read, { lookups: [], key: null, request, question })
      return outcomeOf(ended, nodeCount) as CertifiedOutcome<Answer>
    },
    status: () => ({
      nodeCount,
      faultyMax,
      floor: state.floor,
      waiting: driver.waitingCount(),
      nodes: state.sources.map((source) => statusOf(source, clock.monotonicMs())),
      fork: state.fork && forkOf(state.fork),
    }),
    refreshAddresses: () => learn(true),
    async [Symbol.asyncDispose]() {
      driver.close(base.close())
    },
  }
}

function statusOf(source: Known, nowMs: number): CertifiedNodeStatus {
  const { name, head, counters, latencyMs, badUntilMs, awayUntilMs } = source
  const isFailing = Math.max(badUntilMs, awayUntilMs) > nowMs
  const state = isFailing ? 'failing' : head === null ? 'unknown' : 'live'
  const url = source.url as string // Each has one here.
  return { name, url, state, head, ...counters, latencyMs }
}

function forkOf([a, b]: Contradiction): Fork {
  const histories = [a, b].map(({ historyHash, root, signers }) => ({
    // Where the histories are the same, the states are not.
    historyHash: a.historyHash === b.historyHash ? toHex(root) : historyHash,
    nodes: signers,
  }))
  return { offset: Math.max(a.offset, b.offset), histories }
}
