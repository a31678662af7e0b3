/**
 * The reader of certified answers: one node answers with a proof, so that no answer has to be compared with others.
 *
 * How a read runs:
 * 1. `lookup` and `read` below check the call (`checkCall` in `../reader-base.ts`) and give it to the driver
 *    (`../driver/run.ts`), which owns clock, sockets and callers, and reports each event to the decider.
 * 2. `certified-decider.ts` is deterministic and does no I/O. It joins lookups of one moment to one read, asks the
 *    fastest node (`../source/source.ts`), and asks a second node when the first one is late.
 * 3. `node-asker.ts` sends the request (`node-request.ts`) and verifies certificate and proof of the reply.
 * 4. `credibility.ts` tests whether the proven state is recent enough. If not, the decider asks further nodes.
 * 5. `certified-outcome.ts` makes what the caller gets.
 *
 * Why a read was refused:
 * - The call itself is invalid, or too many reads wait: `checkCall` throws a `ReaderError`.
 * - One reply is refused: `node-asker.ts` gives its reason (`CertifiedReply`), and `onReply` of the decider counts it
 *   against the node.
 * - The read ends without an answer: `undecided` in `credibility.ts` decides on kind and reason. Contradicting
 *   certificates end all reads (`fork` in the decider).
 * - The caller gets kind and reason from `outcomeOf` in `certified-outcome.ts`. The SDK turns them into errors in
 *   `sdk/src/names/outcome-error.ts`, the scan proxy in `packages/scan-proxy/src/outcome.ts`.
 */

import { type CryptoPort, type Lookup, type Sha256, toHex } from '@quorumscan/verifier'
import { type CertifiedEntry, sha256 } from '@quorumscan/verifier/certified'
import { NEVER } from '../driver/decider-protocol.ts'
import { timesNow } from '../driver/proven-time.ts'
import { createDriver } from '../driver/run.ts'
import { type Bounds, checkLookups, createReaderBase } from '../reader-base.ts'
import type { NodeStatus, ReaderOptions, ReaderStatus } from '../reader-options.ts'
import type { NodeObservations } from '../source/source.ts'
import type { Fork } from '../votes/histories.ts'
import type { ReadOptions } from '../votes/read-outcome.ts'
import { step } from './certified-decider.ts'
import { type CertifiedOutcome, outcomeOf } from './certified-outcome.ts'
import {
  type CallInput,
  type ConflictingCertificates,
  createReaderState,
  type ReaderEvent,
} from './certified-state.ts'
import { createAsker } from './node-asker.ts'
import type { CertifiedQuery } from './node-request.ts'

export type CertifiedReaderOptions = Omit<
  ReaderOptions,
  'localHistoryHash' | 'onPrivateAddress' | 'defer' | 'waitMs' | 'onFork' | 'onReply' | 'crypto'
> & {
  readonly crypto: CryptoPort
  /** Default: plain JavaScript; that of Node is faster. */
  readonly sha256?: Sha256 | undefined
  /** How long a read may wait for nodes. Default 10 000 (D-38). */
  readonly waitMs?: number
  /**
   * Whether the seeds are the only addresses to ask, such as one proxy: then no addresses are learned, and an
   * answer is believed until it is too old. Default false.
   */
  readonly areSeedsAll?: boolean
  /** Called once when two certificates conflict. No answer is believed from then on. */
  readonly onFork?: (fork: Fork) => void
}

export type CertifiedReadOptions = Omit<ReadOptions, 'headers'> & {
  /** When the caller gives up, by the reader's monotonic clock. The read ends shortly before that. */
  readonly endsAtMs?: number | undefined
  /** Whether the proof may cover other lookups too. Default true. */
  readonly isShared?: boolean | undefined
}

/** What is known of an address that may be asked. */
export type CertifiedNodeStatus = Pick<NodeStatus, 'requests' | 'errors' | 'lastError'> & {
  /** null: a seed that no node of the genesis has signed as its own address. */
  readonly name: string | null
  readonly url: string
  /** `unknown`: never answered. `failing`: asked last, because of an error or an invalid answer. */
  readonly state: 'unknown' | 'live' | 'failing'
  /** Newest offset that the node proved. */
  readonly head: number | null
  /** Moving average; null before the first answer. */
  readonly latencyMs: number | null
}

export type CertifiedReaderStatus = Pick<
  ReaderStatus,
  'nodeCount' | 'faultyMax' | 'waiting' | 'clock'
> & {
  /** Offset of the newest certificate seen. */
  readonly floor: number
  readonly nodes: readonly CertifiedNodeStatus[]
  /** The conflicting certificates that ended all reads; null: none was seen. */
  readonly fork: Fork | null
}

export type CertifiedReader = ReturnType<typeof createCertifiedReader>

type Looked = CertifiedOutcome<CertifiedEntry | null>

const WAIT_MS = 10_000 // D-38: node 250 ms, proxy 2 s, SDK 10 s.
/** A read ends this long before its caller's deadline, with the best result so far. */
const REPORT_MS = 100
/** If the caller waits for less than a second, the read ends this share of that time before the deadline. */
const REPORT_SHARE = 1 / 10
/** A timer that is later than this shows that this process stalled. */
const STALL_MS = 100

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is not an http or https URL.
 */
export function createCertifiedReader(options: CertifiedReaderOptions) {
  const { clock, transport, areSeedsAll = false } = options
  const network = { ...options, sha256: options.sha256 ?? sha256 }
  const base = createReaderBase(options, {
    onAddress: ({ name, url }) => driver.report({ kind: 'located', name, url }),
  })
  const { nodeCount, faultyMax, trust, crypto, floor, directory } = base
  const state = createReaderState(directory.seeds, areSeedsAll ? 0 : faultyMax)
  state.isLearning = !areSeedsAll
  state.asksSeeds = trust === null
  const isPrivateAllowed = options.allowPrivateAddresses ?? false
  const driver = createDriver({
    context: state,
    step(event: ReaderEvent) {
      state.floor = Math.max(state.floor, floor.value())
      step(state, event)
      floor.raise(state.floor)
    },
    asker: createAsker({ transport, network, crypto, isPrivateAllowed }),
    clock,
    note: (points) => options.onFork?.(forkOf(points)),
    stallMs: STALL_MS,
  })

  const learnAddresses = async (isForced = false): Promise<void> => {
    if (areSeedsAll) return
    const named = state.sources.filter(({ name }) => name !== null)
    const isUrgent = named.length < nodeCount || named.some((source) => source.failureCount > 0)
    // A node whose address cannot be learned is shown without one.
    await directory.refresh({ isUrgent, isForced }).catch(() => {})
    driver.report({ kind: 'learning', isOver: !directory.isLearning() })
  }

  /** Throws as `lookup`. */
  const ask = async (read: CertifiedReadOptions, asked: Omit<CallInput, keyof Bounds>) => {
    const startedAtMs = clock.monotonicMs()
    const leavesAtMs = read.endsAtMs ?? NEVER
    const reportMs = Math.min(REPORT_MS, (leavesAtMs - startedAtMs) * REPORT_SHARE)
    const endsAtMs = Math.min(startedAtMs + (options.waitMs ?? WAIT_MS), leavesAtMs - reportMs)
    const bounds = await base.checkCall(read, driver.waitingCount())
    const asking = driver.ask({ ...bounds, ...asked }, endsAtMs, read.signal)
    void learnAddresses()
    return { ...bounds, ...(await asking) }
  }

  return {
    /**
     * Answers in the order asked; lookups of one moment share a request.
     *
     * @throws {ReaderError} OVERLOADED, INVALID_THRESHOLD, INVALID_ARGUMENT (more than 256 lookups), CLOSED, NO_FLOOR.
     * @throws The signal's reason when aborted.
     */
    async lookup(lookups: readonly Lookup[], read: CertifiedReadOptions = {}): Promise<Looked[]> {
      checkLookups(lookups)
      if (lookups.length === 0) return []
      const { threshold = 'weak', minOffset = 0, maxAgeMs } = read
      const key = read.isShared === false ? null : `${threshold} ${minOffset} ${maxAgeMs}`
      const ended = await ask(read, { lookups, key })
      // The query of a lookup makes an entry or null of the proof.
      return lookups.map((_, index) => outcomeOf(ended, base, index)) as Looked[]
    },
    /** A page or another operation. Throws as `lookup`, and RangeError if the state has no answer to it. */
    async read<Answer>(
      query: CertifiedQuery<Answer>,
      read: CertifiedReadOptions = {},
    ): Promise<CertifiedOutcome<Answer>> {
      const stateQuery = query.stateQuery(network)
      const ended = await ask(read, { lookups: [], key: null, query, stateQuery })
      return outcomeOf(ended, base) as CertifiedOutcome<Answer>
    },
    status: (): CertifiedReaderStatus => ({
      nodeCount,
      faultyMax,
      floor: state.floor,
      waiting: driver.waitingCount(),
      clock: { skewMs: timesNow(state, clock).clockSkewMs },
      nodes: state.sources.map((source) => statusOf(source, clock.monotonicMs())),
      fork: state.fork && forkOf(state.fork),
    }),
    /** The later of the device's clock and the newest proven record time, µs since the epoch: whether an entry has expired. */
    nowMicros: (): number => timesNow(state, clock).nowMicros,
    /** Asks for addresses now; resolves when all sources have answered or failed. */
    refreshAddresses: () => learnAddresses(true),
    async [Symbol.asyncDispose](): Promise<void> {
      driver.close(base.close())
    },
  }
}

function statusOf(source: NodeObservations, nowMs: number): CertifiedNodeStatus {
  const { name, head, counters, latencyMs, badUntilMs, awayUntilMs } = source
  const isFailing = Math.max(badUntilMs, awayUntilMs) > nowMs
  const state = isFailing ? 'failing' : head === null ? 'unknown' : 'live'
  const url = source.url as string // Each has one here.
  return { name, url, state, head, ...counters, latencyMs }
}

function forkOf([a, b]: ConflictingCertificates): Fork {
  const histories = [a, b].map(({ historyHash, root, signers }) => ({
    // If the histories are equal, the states differ.
    historyHash: a.historyHash === b.historyHash ? toHex(root) : historyHash,
    nodes: signers,
  }))
  return { offset: Math.max(a.offset, b.offset), histories }
}
