/** A file that its operator, or `run`, replaces while the process runs. */
import { readFileSync } from 'node:fs'
import {
  type Clock,
  describeReadError,
  EnvError,
  type NamedFile,
  reloadCount,
} from '@quorumscan/base'
import type { Logger } from './logger.ts'
import { createRateLimitedLog } from './rate-limited-log.ts'

/** The shortest time between two reads. */
const REREAD_MS = 2_000

/**
 * Returns the parsed content of the file. A call reads the file again, at most every 2 s, or if a reload was requested. While
 * the file is invalid, its last valid content stays. The result is the same object until the content changes.
 *
 * @param parse - Throws if the content is invalid.
 * @throws {EnvError} Which names the variable, if the file is invalid at the start.
 */
export function openLiveFile<T>(
  { variable, file }: NamedFile,
  parse: (text: string) => T,
  { clock, logger }: { readonly clock: Clock; readonly logger: Pick<Logger, 'warn'> },
): () => T {
  type Content = { readonly text: string; readonly value: T }
  const read = (previous: Content | null): Content => {
    try {
      const text = readFileSync(file, 'utf8')
      return text === previous?.text ? previous : { text, value: parse(text) }
    } catch (cause) {
      throw new EnvError(`${variable}: ${describeReadError(cause, file)}`, { cause })
    }
  }
  const problems = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  let content = read(null)
  let readMs = clock.monotonicMs()
  let reloads = reloadCount()
  return () => {
    if (clock.monotonicMs() - readMs < REREAD_MS && reloads === reloadCount()) return content.value
    reloads = reloadCount()
    readMs = clock.monotonicMs()
    try {
      content = read(content)
      problems.forget()
    } catch (err) {
      problems.write((err as Error).message, () =>
        logger.warn({ err }, 'a file is invalid; its last valid content stays in use'),
      )
    }
    return content.value
  }
}
