/** Lookups directly from the scan nodes, verified in this program, so that no server is trusted. */

import type { CertifiedReaderStatus } from '@quorumscan/reader/certified'
import type { Genesis } from '@quorumscan/verifier'
import type { Activities } from './activities/activities.ts'
import { cryptoUnavailable, failure, invalidArgument, type QuorumscanError } from './errors.ts'
import { assertGenesisPin } from './genesis-pin.ts'
import type { Lookups } from './names/lookups.ts'
import { LOOKUPS } from './names/methods.ts'
import type { Names } from './names/names-type.ts'
import type { NetworkOptions } from './names/open-reader.ts'
import { READS_CHECKS, type ReadsOptions } from './names/reads-options.ts'
import type { Writer } from './names/writer.ts'
import { systemClock } from './platform/clock.ts'
import { hasPlatformCrypto } from './platform/has-crypto.ts'
import { judgeOf } from './platform/judged.ts'
import { lazily, loadPart } from './platform/load-part.ts'
import { loadStore } from './platform/load-store.ts'
import {
  anything,
  assertOptions,
  isBoolean,
  isFunction,
  isObject,
  isPort,
} from './platform/options.ts'
import { assertUrl } from './platform/urls.ts'

/**
 * A network as a plain object, to be passed to `createScan({ ...network })`. A store keeps the values of each network
 * separate.
 */
export type Network = {
  /** For display. */
  readonly name: string
  /** The hash that its members publish, or the document itself. */
  readonly genesis: Genesis | string
  readonly seeds: readonly string[]
}

/** Options of `createScan`: the network, defaults of lookups, and parts of the platform. */
export type ScanOptions = NetworkOptions &
  ReadsOptions & {
    /** For display; the client ignores it. */
    readonly name?: string
    /** A client whose writes are included in reads. Clients that share a store include each other's writes anyway. */
    readonly validator?: Writer
  }

/** What a client of scan nodes knows of its nodes, of the clock of the device, and of its store. */
export type ScanStatus = CertifiedReaderStatus & {
  /**
   * The offset that a validator, another client of the store or `readFrom` stated, and that no certificate reached within
   * 2 s while nodes proved older states: a lie, or the nodes are behind. Reads do not wait for it or higher ones, until a
   * certificate reaches it, for a minute at most. null: there is none.
   */
  readonly unconfirmedOffset: number | null
  readonly store: {
    /** Why a value cannot be read or written now; null: all can, or none is passed. */
    readonly failure: QuorumscanError | null
  }
}

/** Verified reads. */
export interface Scan extends AsyncDisposable {
  readonly names: Names
  /** Coin activities in ledger order, each page verified. */
  readonly activities: Activities
  /**
   * Makes reads include this offset, such as the offset of another program's write. It applies for one minute; after
   * that, answers are newer by default.
   *
   * @throws {QuorumscanError} INVALID_ARGUMENT.
   */
  readFrom(offset: number): Promise<void>
  /** State and counters of each node, the clock and the store; null before the first read. */
  status(): ScanStatus | null
  /** Aborts requests in flight. Later calls throw CLOSED. */
  close(): Promise<void>
}

/**
 * Creates a client that reads names from scan nodes and verifies each answer. It sends nothing before the first call,
 * which loads most of its code.
 *
 * The first lookup checks a genesis document, and throws INVALID_ARGUMENT if it is invalid.
 *
 * @example const scan = createScan({ seeds: ['https://scan.example.com'], genesis: GENESIS_HASH })
 * @throws {QuorumscanError} INVALID_ARGUMENT if seeds or genesis hash are invalid, CRYPTO_UNAVAILABLE.
 */
export function createScan(options: ScanOptions): Scan {
  assertOptions<ScanOptions>('createScan', options, {
    ...READS_CHECKS,
    name: anything,
    seeds: anything,
    genesis: anything,
    trust: isObject,
    allowPrivateAddresses: isBoolean,
    onFork: isFunction,
    validator: isPort('writtenOffset'),
  })
  const { seeds, genesis } = options
  if (!Array.isArray(seeds) || seeds.length === 0)
    throw invalidArgument('`seeds` must list the URL of at least one scan node.')
  for (const [index, seed] of seeds.entries()) assertUrl(`seeds[${index}]`, seed)
  assertGenesisPin(genesis)
  if (options.crypto === undefined && !hasPlatformCrypto()) throw cryptoUnavailable()
  const closing = new AbortController()
  const { signal } = closing

  const { clock = systemClock } = options
  let made: Lookups | undefined
  const lookups = async (): Promise<Lookups> => {
    if (made !== undefined) return made
    const loading = loadPart(() => import('./names/lookups.ts'))
    const [{ createScanLookups }, store] = await Promise.all([loading, loadStore(options, clock)])
    made ??= createScanLookups(options, { clock, store, signal })
    return made
  }
  const others = async () => {
    const { reads } = await lookups()
    const { createOtherReads } = await reads.later.lists()
    return createOtherReads(reads)
  }
  const close = async (): Promise<void> => {
    closing.abort(failure('CLOSED', 'The client is closed.'))
    await made?.reads.close()
  }
  return {
    names: lazily(async () => (await lookups()).names, LOOKUPS, judgeOf('names')),
    ...lazily<Pick<Scan, 'activities' | 'readFrom'>>(others, OTHERS, judgeOf('reads')),
    status() {
      const status = made?.reads.reader()?.status()
      if (made === undefined || status === undefined) return null
      const { reads } = made
      const unconfirmedOffset = reads.unconfirmedOffset()
      return { ...status, unconfirmedOffset, store: { failure: reads.shared.failure() } }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Other methods, and whether each one yields. */
const OTHERS = { activities: true, readFrom: false }
