/** The port of the state tree (`state-reads.ts`) over what ingest follows and what is stored. */
import type { StatePoint } from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { NameReader } from '../reads/name-reader.ts'
import { offsetNotReached, offsetPruned, readVersions } from '../reads/reads.ts'
import type { StoredHead } from '../storage/head.ts'
import { pruneRange, showRange } from './prove-range.ts'
import { differs, type StateFollower, stateDiverged } from './state-follower.ts'
import type { StateKeeper } from './state-keeper.ts'
import type { StateReads } from './state-reads.ts'

export type StateService = StateReads & {
  /** The head has moved on. */
  onWritten(): void
}

export function createStateService(context: {
  readonly nameReader: NameReader
  readonly follower: StateFollower
  /** Of what is stored. */
  readonly head: () => Pick<StoredHead, 'offset' | 'horizon'>
}): StateService {
  const { nameReader, follower, head } = context
  const listeners = new Set<(point: StatePoint) => void>()
  /** Up to where listeners were told. */
  let told: Offset = -1

  const assertTrusted = (): StateKeeper => {
    const diverged = follower.diverged()
    if (diverged !== null) throw stateDiverged(diverged)
    const keeper = follower.keeper()
    if (keeper === null) throw new ScanError('NOT_READY', 'The state is being loaded.')
    return keeper
  }

  return {
    statePoints() {
      const { offset, horizon } = head()
      const points = (follower.keeper()?.kept() ?? []).map(({ point }) => point)
      return points.filter((point) => point.offset >= horizon && point.offset <= offset)
    },
    onStatePoint(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => listeners.delete(listener) }
    },
    onWritten() {
      for (const point of follower.keeper()?.takePoints(head().offset) ?? []) {
        if (point.offset <= told) continue
        told = point.offset
        for (const listener of listeners) listener(point)
      }
    },
    async proveRange(at, range) {
      const keeper = assertTrusted()
      const { offset, horizon } = head()
      if (at > offset) throw offsetNotReached(at)
      const kept = keeper.kept().findLast(({ point }) => point.offset === at)
      if (kept === undefined || at < horizon) throw offsetPruned(at)
      const pruned = pruneRange(keeper, kept, range)
      const values = await readVersions(nameReader, pruned.names, kept.point)
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
