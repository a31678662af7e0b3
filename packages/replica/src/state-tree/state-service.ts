/** The port of the state tree (`state-reads.ts`) over what ingest follows and what is stored. */
import type { StatePoint } from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { NameReader } from '../reads/name-reader.ts'
import { offsetNotReached, offsetPruned, readVersions } from '../reads/reads.ts'
import { pruneRange, showRange } from './prove-range.ts'
import { differs, type StateFollower, stateDiverged } from './state-follower.ts'
import type { StateKeeper } from './state-keeper.ts'
import type { StateReads } from './state-reads.ts'

export type StateService = StateReads & {
  /** What is written reaches up to the head. */
  onWritten(head: Offset): void
}

export function createStateService(context: {
  readonly nameReader: NameReader
  readonly follower: StateFollower
}): StateService {
  const { nameReader, follower } = context
  const listeners = new Set<(point: StatePoint) => void>()
  /** Up to where what is stored reaches, and up to where listeners were told. */
  let written: Offset = -1
  let told: Offset = -1

  const keptStates = () =>
    (follower.keeper()?.kept() ?? []).filter(({ point }) => point.offset <= written)

  const assertTrusted = (): StateKeeper => {
    const diverged = follower.diverged()
    if (diverged !== null) throw stateDiverged(diverged)
    const keeper = follower.keeper()
    if (keeper === null) throw new ScanError('NOT_READY', 'The state is being loaded.')
    return keeper
  }

  return {
    statePoints: () => keptStates().map(({ point }) => point),
    onStatePoint(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => listeners.delete(listener) }
    },
    onWritten(head) {
      written = head
      for (const point of follower.keeper()?.takePoints(head) ?? []) {
        if (point.offset <= told) continue
        told = point.offset
        for (const listener of listeners) listener(point)
      }
    },
    async proveRange(at, range, signal) {
      const keeper = assertTrusted()
      if (at > written) throw offsetNotReached(at)
      const kept = keeper.kept().findLast(({ point }) => point.offset === at)
      if (kept === undefined) throw offsetPruned(at)
      const pruned = pruneRange(keeper, kept, range)
      const values = await readVersions(nameReader, pruned.names, kept.point)
      signal?.throwIfAborted()
      const byName = new Map(pruned.names.map((name, index) => [name, values[index]]))
      const shown = showRange(pruned, byName)
      if ('items' in shown) return shown.items
      const divergence = { offset: at, what: differs(shown.differs) }
      follower.diverge(divergence)
      throw stateDiverged(divergence)
    },
    diverged: () => follower.diverged(),
  }
}
