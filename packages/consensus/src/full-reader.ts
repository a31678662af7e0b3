import { DECISIONS, type Decisions } from './decisions.ts'
import { createReaderOf } from './reader.ts'
import { createReaderBase } from './reader-base.ts'
import type { Reader, ReaderOptions } from './reader-options.ts'

/**
 * Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight.
 *
 * @param decisions - Only for tests, which break one and watch the checkers.
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createReader(options: ReaderOptions, decisions: Decisions = DECISIONS): Reader {
  return createReaderOf(createReaderBase(options, decisions))
}
