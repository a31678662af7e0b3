/** The newest offset of another client's writes, below which a client must not read. */
import type { Clock } from '../platform/clock.ts'
import { inTime } from '../platform/clock.ts'

/** A client that writes, such as a validator client. */
export type Writer = {
  /** The write floor of the client: the newest offset that it has written or seen. 0: none recently. */
  writtenOffset(): Promise<number>
}

/** How long a read waits for a writer. After a timeout reads do not wait again until the writer answers. */
const WRITER_MS = 1000

/** The write floor of the other client; 0 while its validator does not answer. */
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
