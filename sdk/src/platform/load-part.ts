/** Loads parts of the SDK on demand, by `import()`. */
import { failure, transient } from '../errors.ts'
import { deviceState } from './page.ts'

/**
 * Loads a part. After a failure the next call tries again.
 *
 * @throws {QuorumscanError} OFFLINE, PART_UNAVAILABLE.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load()
  } catch (cause) {
    const isServiceWorker = 'ServiceWorkerGlobalScope' in globalThis
    if (deviceState().isOffline && !isServiceWorker)
      throw transient('OFFLINE', OFFLINE_MESSAGE, { cause })
    const message = isServiceWorker
      ? 'A service worker has no `import()`: bundle the SDK into one file.'
      : 'A part of the SDK could not be loaded. Try again.'
    throw failure('PART_UNAVAILABLE', message, { retryable: !isServiceWorker, cause })
  }
}

/** What is made with the first call. After a failure the next call tries again. */
export function once<Part>(make: () => Promise<Part>): () => Promise<Part> {
  let making: Promise<Part> | undefined
  return () => {
    making ??= make().catch((error: unknown) => {
      making = undefined
      throw error
    })
    return making
  }
}

const OFFLINE_MESSAGE =
  'This device is offline, and a part of the SDK is not loaded yet. Try again.'

/** Judges the arguments of a call of a method. @throws {QuorumscanError} INVALID_ARGUMENT. */
export type Judge = (method: string, input: readonly unknown[]) => Promise<void> | void

type AnyMethod<Result> = (...input: never) => Result

/**
 * An object whose methods load it when they are called.
 *
 * @param methods - All of its methods, and whether each one yields.
 * @param judge - Of what callers pass; null: another object judges it.
 */
export function lazily<Part extends object>(
  load: () => Promise<Part>,
  methods: Readonly<Record<keyof Part, boolean>>,
  judge: Judge | null,
): Part {
  const lazy = {} as Part
  for (const key in methods) {
    const method = async (input: readonly unknown[]) => {
      const [part] = await Promise.all([load(), judge?.(key, input)])
      return part[key] as AnyMethod<unknown>
    }
    lazy[key] = (
      methods[key]
        ? async function* (...input: never) {
            yield* (await method(input))(...input) as AsyncIterable<unknown>
          }
        : async (...input: never) => (await method(input))(...input)
    ) as never
  }
  return lazy
}
