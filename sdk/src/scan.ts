/** Lookups directly from the scan nodes, verified in this program, so that no server is trusted. */

import type { CertifiedReaderStatus } from '@quorumscan/reader/certified'
import type { Genesis } from '@quorumscan/verifier'
import type { Activities } from './activities/activities.ts'
import { cryptoUnavailable, failure, invalidArgument } from './errors.ts'
import { assertGenesisPin } from './genesis-pin.ts'
import type { ReadsOptions } from './names/bounded.ts'
import type { Names } from './names/lookup-types.ts'
import { createNames } from './names/names.ts'
import type { NetworkOptions } from './names/open-reader.ts'
import { createReads } from './names/reads.ts'
import type { Writer } from './names/writer.ts'
import { systemClock } from './platform/clock.ts'
import { loadPart } from './platform/load-part.ts'

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
  /** State and counters of each node; null before the first read. */
  status(): CertifiedReaderStatus | null
  /** Aborts requests in flight. Later calls throw CLOSED. */
  close(): Promise<void>
}

/** Without credentials, query and fragment. The reader checks more when it is loaded. */
const SEED = /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i

/**
 * Creates a client that reads names from scan nodes and verifies each answer. It sends nothing before the first lookup.
 *
 * The first lookup checks a genesis document, and throws INVALID_ARGUMENT if it is invalid.
 *
 * @example const scan = createScan({ seeds: ['https://scan.example.com'], genesis: GENESIS_HASH })
 * @throws {QuorumscanError} INVALID_ARGUMENT if seeds or genesis hash are invalid, CRYPTO_UNAVAILABLE.
 */
export function createScan(options: ScanOptions): Scan {
  const { seeds, genesis, clock = systemClock } = options
  const isUrl = (seed: string) => SEED.test(seed) && URL.canParse(seed)
  if (!Array.isArray(seeds) || seeds.length === 0 || !seeds.every(isUrl))
    throw invalidArgument('`seeds` must list http or https URLs of scan nodes.')
  assertGenesisPin(genesis)
  if (options.crypto === undefined && !globalThis.crypto?.subtle) throw cryptoUnavailable()
  const closing = new AbortController()
  const { signal } = closing

  const extras = () => loadPart(() => import('./scan-extras.ts'))
  const reads = createReads({
    client: options,
    clock,
    basis: 'proof',
    network: typeof genesis === 'string' ? genesis : null,
    writer: options.validator,
    async open(shared) {
      signal.throwIfAborted()
      const { openReader } = await loadPart(() => import('./names/open-reader.ts'))
      return openReader({ ...options, clock, shared, extras, signal })
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
      ;(await extras()).assertOffset(offset)
      await reads.writeFloor.record(offset)
    },
    status: () => reads.reader()?.status() ?? null,
    close,
    [Symbol.asyncDispose]: close,
  }
}
