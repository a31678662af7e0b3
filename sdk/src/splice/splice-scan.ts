/** Reads over the public Scan API of a Splice network. An answer needs equal replies of enough super-validators. */

import { createFetchTransport, isAuthenticated, machineOf, urlProblem } from '@quorumscan/reader'
import type { TrustList } from '@quorumscan/verifier'
import { failure, invalidArgument } from '../errors.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import {
  anything,
  assertOptions,
  isArray,
  isClock,
  isFunction,
  isMs,
  isObject,
  isOneOf,
  isText,
  isWhole,
} from '../platform/options.ts'
import { shownValue } from '../platform/shown-value.ts'
import { assertUrl } from '../platform/urls.ts'
import { decided } from './decided.ts'
import {
  askActivities,
  askAnsRules,
  askClosedRounds,
  askDso,
  askHoldings,
  askRounds,
  askScans,
  type HoldingsRequest,
  type SpliceActivity,
  type SpliceContract,
  type SpliceDso,
  type SpliceHoldings,
  type SpliceRounds,
  type SpliceScans,
} from './network-questions.ts'
import type { SpliceThreshold } from './splice-decider.ts'
import { createSpliceNames, type SpliceNames } from './splice-names.ts'
import type { SpliceOutcome } from './splice-outcome.ts'
import {
  createSpliceReader,
  isSpliceThreshold,
  READ_CHECKS,
  type SpliceReadOptions,
  type SpliceScanAddress,
} from './splice-reader.ts'

/** Options of `createSpliceScan`: which scans to ask, and how many must agree. */
export type SpliceScanOptions = {
  /**
   * Base URLs of scans of different super-validators, which list all others; https, or this machine. Seeds on one machine
   * count as one: of this machine those with one port, of others those with one host name, and in Node.js those whose names
   * share an address. Browsers show no addresses: pass seeds of different operators. Of n seeds floor((n − 1) / 3) may lie. Of two or three, two must give the same list. One alone is trusted
   * for it, and answers have the basis `trusted`.
   */
  readonly seeds?: readonly string[]
  /** Instead of seeds: all scans to ask, at least 2f+1 of different super-validators. */
  readonly scans?: readonly SpliceScanAddress[]
  /**
   * The known number of super-validators. If a list has fewer, n remains this number. With `scans` it replaces the
   * list.
   */
  readonly svCount?: number
  /**
   * Trusts these super-validators instead of all: an answer needs `threshold` of their equal votes, by default a third of
   * the list, rounded down, plus one. Fewer of them may lie. Only their scans are asked; seeds only for the list of scans,
   * once. `members` are names on the ledger. The first read checks them: a
   * name that is not in `scans`, or not in the list, is INVALID_ARGUMENT.
   */
  readonly trust?: TrustList
  /** Default for every read; `f+1` unless given, which of `trust` is its threshold. */
  readonly threshold?: SpliceThreshold
  /** Timeout of a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
}

/** The known scans; null before the first read. */
export type SpliceStatus = {
  /** n. */
  readonly nodeCount: number
  /** Super-validators whose scans are asked, in no order. */
  readonly svNames: readonly string[]
} | null

/** Reads on which several scans agree. Each read is sent to all known scans. */
export interface SpliceScan extends AsyncDisposable {
  readonly names: SpliceNames
  /** `/v0/dso`, without the two members that name the answering super-validator. */
  dso(options?: SpliceReadOptions): Promise<SpliceOutcome<SpliceDso>>
  /** `/v0/scans`. */
  scans(options?: SpliceReadOptions): Promise<SpliceOutcome<readonly SpliceScans[]>>
  /** `/v0/ans-rules`. */
  ansRules(options?: SpliceReadOptions): Promise<SpliceOutcome<SpliceContract>>
  /** `/v0/open-and-issuing-mining-rounds`, without the time to live, which differs between scans. */
  rounds(options?: SpliceReadOptions): Promise<SpliceOutcome<SpliceRounds>>
  /** `/v0/closed-rounds`. */
  closedRounds(options?: SpliceReadOptions): Promise<SpliceOutcome<readonly SpliceContract[]>>
  /** `/v0/holdings/summary`. Pages of single holdings are not supported, since their tokens differ between scans. */
  holdings(
    request: HoldingsRequest,
    options?: SpliceReadOptions,
  ): Promise<SpliceOutcome<SpliceHoldings>>
  /**
   * `/v0/activities`, which newer scans no longer have: rows from the newest to the oldest, with an agreement for each
   * page. Leave the loop to stop. Throws as `names.resolve`.
   */
  activities(
    options: SpliceReadOptions & {
      /** The only order. */
      readonly order: 'desc'
      /** Only rows after this eventId. */
      readonly after?: string
      /** From 1 to 1000. Default 100. */
      readonly pageSize?: number
    },
  ): AsyncIterableIterator<SpliceActivity>
  /** The scans that are asked; null before the first read. */
  status(): SpliceStatus
  /** Aborts requests in flight. Later calls throw CLOSED. */
  close(): Promise<void>
}

/**
 * Creates a client of a Splice network for applications without a validator. It sends nothing before the first read.
 *
 * An answer is equal in f+1 super-validators, so at least one honest one gave it. Answers are not signed, and not proven
 * to be the newest. `createScan` of the main entry reads networks whose nodes prove their answers.
 *
 * @example const scan = createSpliceScan({ seeds: ['https://scan.sv-1.example', 'https://scan.sv-2.example'] })
 * @throws {QuorumscanError} INVALID_ARGUMENT if the options are invalid.
 */
export function createSpliceScan(options: SpliceScanOptions): SpliceScan {
  assertOptions<SpliceScanOptions>('createSpliceScan', options, {
    seeds: isArray,
    scans: isArray,
    svCount: isWhole(1),
    trust: isObject,
    threshold: isSpliceThreshold,
    timeoutMs: isMs,
    fetch: isFunction,
    clock: isClock,
  })
  const { clock = systemClock } = options
  const closing = new AbortController()
  const reader = createSpliceReader({
    origin: originOf(options),
    transport: createFetchTransport(options),
    clock,
    defaults: options,
    signal: closing.signal,
  })
  const close = async (): Promise<void> => closing.abort(failure('CLOSED', 'The client is closed.'))
  return {
    names: createSpliceNames(reader),
    dso: (read = {}) => reader.read(askDso, read),
    scans: (read = {}) => reader.read(askScans, read),
    ansRules: (read = {}) => reader.read(askAnsRules, read),
    rounds: (read = {}) => reader.read(askRounds, read),
    closedRounds: (read = {}) => reader.read(askClosedRounds, read),
    holdings: async (request, read = {}) => reader.read(askHoldings(request), read),
    async *activities(options) {
      assertOptions<ActivitiesOptions>('activities', options, ACTIVITIES_CHECKS)
      const { order: _, after = null, pageSize: __, ...read } = options
      const pageSize = pageSizeOf(options)
      // Every page is compared with one before it, at growing distances, so that pages which repeat end the list.
      let mark = after
      let distance = 1
      for (let last = after, count = 1; ; count++) {
        const outcome = await reader.read(askActivities({ pageSize, after: last }), read)
        const rows = decided(outcome).value ?? []
        yield* rows
        const oldest = rows.at(-1)?.eventId
        if (oldest === undefined) return
        if (oldest === mark)
          throw failure('INVALID_RESPONSE', 'The scans answer with activities that do not end.')
        last = oldest
        if (count < distance) continue
        mark = oldest
        distance *= 2
        count = 0
      }
    },
    status() {
      const list = reader.members()
      return list && { nodeCount: list.nodeCount, svNames: list.voters.map(({ svName }) => svName) }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

type ActivitiesOptions = Parameters<SpliceScan['activities']>[0]

const ACTIVITIES_CHECKS = {
  ...READ_CHECKS,
  order: isOneOf(['desc']),
  after: isText,
  pageSize: anything, // `pageSizeOf` checks it.
}

function originOf({ seeds, scans, svCount, trust }: SpliceScanOptions) {
  if ((seeds === undefined) === (scans === undefined))
    throw invalidArgument('Pass either `seeds` or `scans`.')
  if (svCount !== undefined && !(Number.isInteger(svCount) && svCount >= 1))
    throw invalidArgument(
      `\`svCount\` must be a whole number of at least 1, not ${shownValue(svCount)}.`,
    )
  // A seed is named by its host until the list has the name of its super-validator.
  // A copy, which has `undefined` where a list has nothing.
  const addresses: readonly SpliceScanAddress[] =
    scans === undefined
      ? [...(seeds ?? [])].map((url) => ({
          svName: urlProblem(url) === null ? machineOf(url) : '',
          publicUrl: url,
        }))
      : [...scans]
  if (addresses.length === 0) throw invalidArgument('Pass at least one scan.')
  for (const [index, address] of addresses.entries()) {
    if (isObject(address) !== null)
      throw invalidArgument(`\`scans[${index}]\` ${isObject(address)}.`)
    const { svName, publicUrl } = address
    const what = scans === undefined ? `seeds[${index}]` : `scans[${index}].publicUrl`
    assertUrl(what, publicUrl, isAuthenticated)
    if (typeof svName !== 'string' || svName === '')
      throw invalidArgument(`\`scans[${index}].svName\` must be the name of a super-validator.`)
  }
  const areScansAll = scans !== undefined
  return { scans: addresses, areScansAll, svCount: svCount ?? null, trust }
}
