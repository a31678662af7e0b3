/** Lookups straight from the scan nodes: this program is the verifier, and no proxy is trusted. */

import type { CertifiedReaderStatus } from '@quorumscan/reader/certified'
import type { Genesis } from '@quorumscan/verifier'
import type { Activities } from './activities/activities.ts'
import { cryptoUnavailable, failure, invalidArgument } from './errors.ts'
import { assertPin } from './genesis-pin.ts'
import type { ReadsOptions } from './names/bounded.ts'
import type { Names } from './names/lookups.ts'
import { createNames } from './names/names.ts'
import type { NetworkOptions, ReaderParts } from './names/open-reader.ts'
import { createReads } from './names/reads.ts'
import type { Writer } from './names/writer.ts'
import { systemClock } from './platform/clock.ts'
import { loadPart } from './platform/load-part.ts'
import type { LoadScanExtras } from './scan-extras.ts'

/**
 * A network as a plain object, to be kept with others and passed on: `createScan({ ...network })`. What a store
 * remembers is kept apart for each.
 */
export type Network = {
  /** For people. */
  readonly name: string
  /** The hash that its members publish, or the document itself. */
  readonly genesis: Genesis | string
  readonly seeds: readonly string[]
}

/** Whom to ask, whom to believe, and what of the platform to use. */
export type ScanOptions = NetworkOptions &
  ReadsOptions & {
    /** Of a `Network`; nothing depends on it. */
    readonly name?: string
    /** Whose writes are seen: nothing is read that is older. Clients that share a store see each other's anyway. */
    readonly validator?: Writer
  }

/** Reads that this program verifies itself. */
export interface Scan extends AsyncDisposable {
  readonly names: Names
  /** Coin activities in order of the ledger, each page verified. */
  readonly activities: Activities
  /**
   * Nothing older than this offset is read for a minute, after which no answer is older by default: such as that of a
   * write of another program.
   *
   * @throws {QuorumscanError} INVALID_ARGUMENT.
   */
  readFrom(offset: number): Promise<void>
  /** Counters of each node; null before the first read. */
  status(): CertifiedReaderStatus | null
  /** Ends what is in flight; later calls throw CLOSED. */
  close(): Promise<void>
}

/** Without credentials, query and fragment; the reader, once it is loaded, looks closer. */
const SEED = /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i

/**
 * A verified reader of the name service. Nothing is sent before the first lookup.
 *
 * A genesis document is checked by the first lookup, which throws INVALID_ARGUMENT if it is none.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT if seeds or the hash make no sense, CRYPTO_UNAVAILABLE.
 */
export function createScan(options: ScanOptions): Scan {
  const { seeds, genesis, clock = systemClock } = options
  if (
    !Array.isArray(seeds) ||
    seeds.length === 0 ||
    !seeds.every((seed) => SEED.test(seed) && URL.canParse(seed))
  )
    throw invalidArgument('seeds are one or more http or https URLs of scan nodes.')
  assertPin(genesis)
  if (options.crypto === undefined && !globalThis.crypto?.subtle) throw cryptoUnavailable()
  const closing = new AbortController()
  const { signal } = closing

  const extras: LoadScanExtras = async () =>
    (await loadPart(() => import('./scan-extras.ts'))).scanExtras
  const reads = createReads({
    client: options,
    clock,
    verifiedBy: 'self',
    network: typeof genesis === 'string' ? genesis : null,
    writer: options.validator,
    async open(kept) {
      signal.throwIfAborted()
      const { openReader } = await loadPart(() => import('./names/open-reader.ts'))
      const checkGenesis: ReaderParts['checkGenesis'] = async (...input) =>
        (await extras()).checkGenesis(...input)
      return openReader({ ...options, clock, kept, checkGenesis, signal })
    },
    extras,
  })
  const close = async (): Promise<void> => {
    closing.abort(failure('CLOSED', 'The client is closed.'))
    await reads.close()
  }
  return {
    names: createNames(reads, options),
    async *activities(more) {
      yield* (await extras()).createActivities(reads)(more)
    },
    async readFrom(offset) {
      if (!Number.isSafeInteger(offset) || offset < 0)
        throw invalidArgument('An offset is a whole number, and not negative.')
      await reads.written.note(offset)
    },
    status: () => reads.reader()?.status() ?? null,
    close,
    [Symbol.asyncDispose]: close,
  }
}
