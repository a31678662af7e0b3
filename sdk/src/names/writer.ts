/** Offsets that another client has written at, which a read must not be older than. */
import type { Clock } from '../platform/clock.ts'
import { inTime } from '../platform/deadline.ts'

/** A client that writes, such as that of a validator. */
export type Writer = {
  /** The newest offset that it has written at, or was shown; 0: none lately. Nothing older is to be read. */
  writtenOffset(): Promise<number>
}

/** A read waits so long for a writer, and not again until it answers: it does not depend on a validator that hangs. */
const WRITER_MS = 1000

/** The offset that another client has written at; 0 while its validator is dead or does not answer. */
export function createWriterOffset(writer: Writer, clock: Clock): () => Promise<number> {
  let isHanging = false
  return async () => {
    if (isHanging) return 0
    const asking = writer.writtenOffset()
    try {
      return await inTime(clock, WRITER_MS, asking)
    } catch {
      isHanging = true
      const answered = () => {
        isHanging = false
      }
      asking.then(answered, answered)
      return 0
    }
  }
}
