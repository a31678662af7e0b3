/** Reads over the public Scan API of a Splice network, believing what enough super-validators say alike. */

import { createFetchTransport } from '@quorumscan/reader'
import { failure, invalidArgument } from '../errors.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import type { SpliceThreshold } from './decider.ts'
import { parseScanUrl, type SpliceScanAddress } from './directory.ts'
import { createSpliceNames, type SpliceNames } from './names.ts'
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
import { decided, type SpliceOutcome } from './outcome.ts'
import { createSpliceReader, type SpliceReadOptions } from './reader.ts'

/** Whom to ask, and how many of them must say the same. */
export type SpliceScanOptions = {
  /**
   * Base URLs of some scans of different super-validators, from which all others are learned; https, or this
   * machine. Of n seeds floor((n − 1) / 3) may lie: with fewer than four, each is believed about who the others are.
   */
  readonly seeds?: readonly string[]
  /** Instead of seeds: all scans to ask, at least 2f+1 of different super-validators. No other is called. */
  readonly scans?: readonly SpliceScanAddress[]
  /**
   * How many super-validators there are, as far as the caller knows: a list with fewer is taken to have left some
   * out, and n stays. With `scans` it replaces the list.
   */
  readonly svCount?: number
  /** Default for every read; `f+1` unless given. */
  readonly threshold?: SpliceThreshold
  /** For a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
}

/** What is known of the network; null before the first read. */
export type SpliceStatus = {
  /** n. */
  readonly nodeCount: number
  /** Whose scans are asked, in no order. */
  readonly svNames: readonly string[]
} | null

/** Reads that several scans agree on. All reads of names and of the network are put to all scans that are known. */
export interface SpliceScan extends AsyncDisposable {
  readonly names: SpliceNames
  /** `/v0/dso`, without the two members that tell which super-validator answered. */
  dso(options?: SpliceReadOptions): Promise<SpliceOutcome<SpliceDso>>
  /** `/v0/scans`. */
  scans(options?: SpliceReadOptions): Promise<SpliceOutcome<readonly SpliceScans[]>>
  /** `/v0/ans-rules`. */
  ansRules(options?: SpliceReadOptions): Promise<SpliceOutcome<SpliceContract>>
  /** `/v0/open-and-issuing-mining-rounds`, without the time to live, which is each scan's own. */
  rounds(options?: SpliceReadOptions): Promise<SpliceOutcome<SpliceRounds>>
  /** `/v0/closed-rounds`. */
  closedRounds(options?: SpliceReadOptions): Promise<SpliceOutcome<readonly SpliceContract[]>>
  /** `/v0/holdings/summary`. Pages of single holdings are not offered: their tokens are each scan's own. */
  holdings(
    request: HoldingsRequest,
    options?: SpliceReadOptions,
  ): Promise<SpliceOutcome<SpliceHoldings>>
  /**
   * `/v0/activities`, which newer scans no longer have: rows from the newest on, page by page, each page agreed on.
   * Leaving the loop ends it. Throws as `names.resolve`.
   */
  activities(
    options: SpliceReadOptions & {
      /** There is no other order here. */
      readonly order: 'desc'
      /** eventId to go on after. */
      readonly after?: string
      /** From 1 to 1000. Default 100. */
      readonly pageSize?: number
    },
  ): AsyncIterableIterator<SpliceActivity>
  /** Who is asked; null before the first read. */
  status(): SpliceStatus
  /** Ends what is in flight; later calls throw CLOSED. */
  close(): Promise<void>
}

/**
 * A reader of a Splice network for applications without a validator. Nothing is sent before the first read.
 *
 * What it returns is what f+1 super-validators said alike, so that one honest one stands behind it. It is not signed
 * and not proven to be the newest: `createScan` of the main entry reads networks whose nodes prove their answers.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT if the options make no sense.
 */
export function createSpliceScan(options: SpliceScanOptions): SpliceScan {
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
    async *activities({ after, ...read }) {
      const pageSize = pageSizeOf(read)
      for (let last = after ?? null; ; ) {
        const outcome = await reader.read(askActivities({ pageSize, after: last }), read)
        const rows = decided('list activities', outcome).value ?? []
        yield* rows
        const newest = rows.at(-1)?.eventId
        if (newest === undefined || newest === last) return
        last = newest
      }
    },
    status() {
      const electorate = reader.electorate()
      return (
        electorate && {
          nodeCount: electorate.nodeCount,
          svNames: electorate.voters.map(({ svName }) => svName),
        }
      )
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function originOf({ seeds, scans, svCount }: SpliceScanOptions) {
  if ((seeds === undefined) === (scans === undefined))
    throw invalidArgument('Give either seeds or scans.')
  if (svCount !== undefined && !(Number.isInteger(svCount) && svCount >= 1))
    throw invalidArgument('svCount is a whole number from 1 on.')
  // A seed is known by where it is until the list says whose it is.
  const addresses =
    scans ??
    seeds?.map((url) => ({ svName: URL.canParse(url) ? new URL(url).host : '', publicUrl: url })) ??
    []
  if (addresses.length === 0) throw invalidArgument('At least one scan is needed.')
  for (const { svName, publicUrl } of addresses)
    if (typeof svName !== 'string' || svName === '' || parseScanUrl(publicUrl, true) === undefined)
      throw invalidArgument(`Not the https URL of a scan, nor one on this machine: ${publicUrl}`)
  return { scans: addresses, areScansAll: scans !== undefined, svCount: svCount ?? null }
}
