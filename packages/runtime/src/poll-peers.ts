import type { Clock } from '@quorumscan/base'
import type { Peer } from './peer-addresses.ts'
import { type Repetition, repeat } from './repeat.ts'

/** What a peer answered last. */
type Observation<T> = {
  readonly value: T
  /** When it came, by the monotonic clock. */
  readonly atMs: number
  /** Whether it is the answer of the last round: false where the peer has not answered since. */
  readonly isCurrent: boolean
}

export type PeerPoll<T> = Repetition & {
  /** By the name of the peer; those that never answered are missing. */
  readonly latest: ReadonlyMap<string, Observation<T>>
}

/** Asks all peers in rounds, from now on, and keeps what each answered last. */
export function pollPeers<T>(options: {
  readonly peers: readonly Peer[]
  /** What it throws counts as no answer. It bounds its own time: the round waits for all. */
  readonly read: (peer: Peer, signal: AbortSignal) => Promise<T>
  readonly clock: Clock
  /** From the end of a round to the next. */
  readonly everyMs: number
  /** Asked after each pause whether to begin a round, so long after the last one ended. Default: yes. */
  readonly isDue?: (sinceMs: number, latest: PeerPoll<T>['latest']) => boolean
}): PeerPoll<T> {
  const { peers, read, clock, everyMs, isDue = () => true } = options
  const latest = new Map<string, Observation<T>>()
  let endedMs = Number.NEGATIVE_INFINITY

  const ask = async (peer: Peer, signal: AbortSignal): Promise<void> => {
    try {
      const value = await read(peer, signal)
      latest.set(peer.name, { value, atMs: clock.monotonicMs(), isCurrent: true })
    } catch {
      // A peer that does not answer says nothing. How old its last answer is tells the rest.
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
