/** Loads parts of the SDK on demand, by `import()`. */
import { failure } from '../errors.ts'

/**
 * Loads a part. After a failure the next call tries again.
 *
 * @throws {QuorumscanError} PART_UNAVAILABLE.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load()
  } catch (cause) {
    const isServiceWorker = 'ServiceWorkerGlobalScope' in globalThis
    const message = isServiceWorker
      ? 'A service worker has no `import()`: bundle the SDK into one file.'
      : 'A part of the SDK could not be loaded. Try again.'
    throw failure('PART_UNAVAILABLE', message, { retryable: !isServiceWorker, cause })
  }
}
