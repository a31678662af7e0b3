/** Periodic work of a process. docs/architecture.md lists all of it, with its periods. */
import { type Clock, held, linkedController } from '@quorumscan/base'
import type { Peer } from './peer-addresses.ts'

/** Disposing ends it, and waits for a run in progress. */
export type Repetition = AsyncDisposable & {
  /** Resolves when it has ended; rejects with what `onError` throws. */
  readonly ended: Promise<void>
}

/**
 * Runs `work` at once, and again `everyMs` after each run has ended, until the signal aborts or it is disposed of.
 * `onError` receives the error of a run, and the next run follows. An error that `onError` throws ends the repetition.
 */
export function repeat(
  work: (signal: AbortSignal) => unknown,
  options: {
    readonly clock: Clock
    /** A function is called after each run. */
    readonly everyMs: number | (() => number)
    /** Whether a pause precedes the first run. */
    readonly waitsFirst?: boolean
    readonly signal?: AbortSignal
    /** Not called for a run that the end interrupts. Default: an error of a run is a defect, and ends it. */
    readonly onError?: (error: unknown) => void
  },
): Repetition {
  const { clock, everyMs, waitsFirst = false } = options
  const closing = linkedController(options.signal)
  const { signal } = closing
  const pause = (): Promise<void> =>
    clock
      .delay(typeof everyMs === 'number' ? everyMs : everyMs(), signal)
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
  const run = async (): Promise<void> => {
    if (waitsFirst) await pause()
    while (!signal.aborted) {
      try {
        await work(signal)
      } catch (error) {
        if (signal.aborted) break
        if (options.onError === undefined) throw error
        options.onError(error)
      }
      await pause()
    }
  }
  const ended = run().finally(() => closing.abort())
  return {
    ended,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('closed'))
      await ended
    },
  }
}

/** The last answer of a peer. */
type Observation<T> = {
  readonly value: T
  /** When it arrived, by the monotonic clock. */
  readonly atMs: number
  /** Whether it is the answer of the last round: false where the peer has not answered since. */
  readonly isCurrent: boolean
}

export type PeerPoll<T> = Repetition & {
  /** The last answer by the name of the peer. Peers that never answered are missing. */
  readonly latest: ReadonlyMap<string, Observation<T>>
}

/** Asks all peers in rounds, from now on, and stores the last answer of each. */
export function pollPeers<T>(options: {
  readonly peers: readonly Peer[]
  /** An error counts as no answer. It must limit its own time: the round waits for all. */
  readonly read: (peer: Peer, signal: AbortSignal) => Promise<T>
  readonly clock: Clock
  /** The pause from the end of a round to the next. */
  readonly everyMs: number
  /** Whether to begin a round so long after the last one, called after each pause. Default: yes. */
  readonly isDue?: (sinceMs: number, latest: PeerPoll<T>['latest']) => boolean
}): PeerPoll<T> {
  const { peers, read, clock, everyMs, isDue = () => true } = options
  const latest = held(
    { owner: 'runtime', name: 'latest answers of peers', kind: 'state', bound: 'one of each peer' },
    new Map<string, Observation<T>>(),
  )
  let endedMs = Number.NEGATIVE_INFINITY

  const ask = async (peer: Peer, signal: AbortSignal): Promise<void> => {
    try {
      const value = await read(peer, signal)
      latest.set(peer.name, { value, atMs: clock.monotonicMs(), isCurrent: true })
    } catch {
      // The peer did not answer. The age of its last answer shows it.
      const last = latest.get(peer.name)
      if (last !== undefined) latest.set(peer.name, { ...last, isCurrent: false })
    }
  }
  const round = async (signal: AbortSignal): Promise<void> => {
    if (!isDue(clock.monotonicMs() - endedMs, latest)) return
    await Promise.all(peers.map((peer) => ask(peer, signal)))
    endedMs = clock.monotonicMs()
  }
  const { ended, [Symbol.asyncDispose]: dispose } = repeat(round, { clock, everyMs })
  return { latest, ended, [Symbol.asyncDispose]: dispose }
}
