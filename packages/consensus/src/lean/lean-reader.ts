import type { Reader, ReaderOptions } from '../reader/reader-options.ts'
import type { createReaderOf } from '../vote-reader/reader.ts'
import { createReaderBase } from '../vote-reader/reader-base.ts'
import { DECISIONS, type Decisions } from '../votes/decisions.ts'
import { createQuickLookup } from './quick-lookup.ts'

/** By then all is well, or something is in the way, or the nodes are slow: then both ways are tried. */
const PATIENCE_MS = 1000

type Options = Omit<ReaderOptions, 'localHistoryHash'>
type LoadReader = () => Promise<typeof createReaderOf>

/**
 * As `createReader`, for pages: lookups that nothing is in the way of are read by a small part, and the
 * reader itself is loaded when something is: a node that lags or lies, a signature, a page of names, many
 * lookups at a time. From then on it reads everything. There is no replica to compare with.
 *
 * @param load - Only for tests, which have it at hand, and break a decision.
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createLeanReader(
  options: Options,
  load: LoadReader = async () => (await import('../vote-reader/reader.ts')).createReaderOf,
  decisions: Decisions = DECISIONS,
): Reader {
  const base = createReaderBase(options, decisions)
  const quick = createQuickLookup(base)
  let loading: Promise<Reader> | undefined
  let reader: Reader | undefined

  const whole = (): Promise<Reader> => {
    loading ??= load().then(
      (createReaderOf) => {
        reader = createReaderOf(base)
        return reader
      },
      (error: unknown) => {
        loading = undefined // The next read tries again.
        throw error
      },
    )
    return loading
  }

  const lookup: Reader['lookup'] = async (lookups, readOptions = {}) => {
    if (reader !== undefined) return reader.lookup(lookups, readOptions)
    const over = new AbortController()
    const patience = options.clock.delay(PATIENCE_MS, over.signal).then(() => null)
    const quickly = quick(lookups, readOptions)
    const found = await Promise.race([quickly, patience]).finally(() => over.abort())
    if (found !== null) return found
    const wholly = whole().then((loaded) => loaded.lookup(lookups, readOptions))
    // Whichever has an answer first; on a bad link the reader itself may not even be loaded in time.
    const either = Promise.any([wholly, quickly.then((answers) => answers ?? wholly)])
    return either.catch(({ errors }: AggregateError) => Promise.reject(errors[0]))
  }

  return {
    lookup,
    read: async (request, readOptions) => (await whole()).read(request, readOptions),
    status: () => reader?.status() ?? base.status(0, () => false),
    refreshAddresses: () => base.directory.refresh({ isUneasy: true, isForced: true }),
    [Symbol.asyncDispose]: async () => {
      await reader?.[Symbol.asyncDispose]()
      base.closing.abort()
    },
  }
}
