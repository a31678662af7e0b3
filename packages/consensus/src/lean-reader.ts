import { DECISIONS } from './decisions.ts'
import { createReaderOf } from './reader.ts'
import type { Reader, ReaderOptions } from './reader-options.ts'

/**
 * As `createReader`, for pages: what a lookup that gets its answer does without is loaded with
 * `import()` when it is needed, and there is no replica to compare with.
 *
 * @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL.
 */
export function createLeanReader(options: Omit<ReaderOptions, 'localHistoryHash'>): Reader {
  const extras = async () => (await import('./extras.ts')).readerExtras
  return createReaderOf(options, { decisions: DECISIONS, extras })
}
