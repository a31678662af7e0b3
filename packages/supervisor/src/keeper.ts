/**
 * Starts again what ended without having been told to: at once the first time, later and later while it does
 * not last. Knows nothing about what it keeps.
 */
import type { Clock } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'

/** A socket of the process that ended is still being closed. */
const DELAY_MS_MIN = 100
/** What cannot start, for want of room on the disk for example, is there soon after it can. */
const DELAY_MS_MAX = 10_000
/** Who ran this long is well; longer than the longest delay. */
const LASTED_MS = 15_000
/** Ends in a row after which nobody should wait for it. */
const HOPELESS_COUNT = 3

type Kept = {
  /** Ends in a row that came soon after a start. */
  count: number
  startedMs: number
  how: string
}

export type KeeperOptions = {
  readonly clock: Clock
  /** Starts the process unless it runs or is not to; what it throws is tried again. */
  readonly start: (id: string) => Promise<void>
  /** Told what happened to a process, a sentence each. */
  readonly tell: (id: string, sentence: string) => void
}

export class Keeper {
  readonly #options: KeeperOptions
  readonly #keptById = new Map<string, Kept>()
  readonly #closing = new AbortController()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** The process ended without having been told to. Returns at once. */
  noteEnd(id: string, how: string): void {
    if (this.#closing.signal.aborted) return
    const { clock, tell } = this.#options
    const nowMs = clock.monotonicMs()
    const count = (this.#recent(id)?.count ?? 0) + 1
    const kept: Kept = { count, startedMs: nowMs, how }
    this.#keptById.set(id, kept)
    const delayMs = Math.min(DELAY_MS_MAX, DELAY_MS_MIN * 4 ** (count - 1))
    const when = delayMs < 1000 ? '' : ` in ${Math.round(delayMs / 1000)} s`
    tell(id, `${id} exited unexpectedly (${how}); it is started again${when}`)
    clock
      .delay(delayMs, this.#closing.signal)
      .then(async () => {
        await this.#options.start(id)
        kept.startedMs = clock.monotonicMs()
      })
      .catch((error: unknown) => {
        this.noteEnd(id, messageOf(error))
      })
  }

  /** How it ended; null if it never did, or has lasted since. */
  endOf(id: string): string | null {
    return this.#recent(id)?.how ?? null
  }

  /** Whether it ended so often in a row that whoever waits for it had better go on. */
  isHopeless(id: string): boolean {
    return (this.#recent(id)?.count ?? 0) >= HOPELESS_COUNT
  }

  /** What was told to start or to end begins anew. */
  forget(id: string): void {
    this.#keptById.delete(id)
  }

  /** Starts nothing any more. */
  close(): void {
    this.#closing.abort(new CommandError('everything is being stopped'))
  }

  #recent(id: string): Kept | null {
    const kept = this.#keptById.get(id)
    const isRecent =
      kept !== undefined && this.#options.clock.monotonicMs() - kept.startedMs < LASTED_MS
    return isRecent ? kept : null
  }
}
