/**
 * The state tree as apps use it: a root for each certifiable offset, to be signed, and proofs against the roots of
 * recent offsets.
 */
import { bufferOf, bytesOfCache, fromUtf8, held, singleFlight } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Genesis, StatePoint } from '@quorumscan/verifier'
import {
  type ActivitiesPage,
  activityTree,
  joinActivitiesProof,
  type ProvenActivities,
} from '@quorumscan/verifier/certified'
import type { KeyRange, ProvenRange } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import type { NameReader } from '../reads/name-reader.ts'
import { offsetNotReached, offsetPruned } from '../reads/reads.ts'
import type { StoredHead } from '../storage/head.ts'
import { proveActivities } from './prove-activities.ts'
import { proveRange } from './prove-range.ts'
import { type StateTreeUpdater, stateDiverged } from './tree-updater.ts'

/** Proofs of ten thousand names, or of thirty pages of a thousand. */
const PROVEN_BYTES_MAX = 32 * 2 ** 20
/** Memory of the map and the objects of one proof. */
const PROVEN_OVERHEAD_BYTES = 512

export function createStateService(context: {
  readonly redis: Redis
  readonly genesis: Genesis
  readonly nameReader: NameReader
  readonly treeUpdater: StateTreeUpdater
  /** The head of the stored replica. */
  readonly head: () => Pick<StoredHead, 'offset' | 'horizon'>
}) {
  const { treeUpdater, head } = context
  const listeners = held(
    {
      owner: 'replica',
      name: 'listeners of states',
      kind: 'state',
      bound: 'one of each part of the process',
    },
    new Set<(point: StatePoint) => void>(),
  )
  /** The newest offset that was reported to listeners. */
  let reportedUpTo: Offset = -1
  /** The keys and values follow from the log alone, so that no entry can be outdated. */
  const provenByRange = held(
    { owner: 'replica', name: 'bytes of cached proofs', kind: 'cache', bound: PROVEN_BYTES_MAX },
    new LRUCache<string, ProvenRange>({
      maxSize: PROVEN_BYTES_MAX,
      sizeCalculation: ({ proof, leaves }, key) =>
        PROVEN_OVERHEAD_BYTES +
        key.length +
        proof.length +
        leaves.reduce((sum, { value }) => sum + PROVEN_OVERHEAD_BYTES + value.length, 0),
    }),
    bytesOfCache,
  )

  const recentAt = (at: Offset) => {
    const diverged = treeUpdater.diverged()
    if (diverged !== null) throw stateDiverged(diverged)
    const history = treeUpdater.history()
    if (history === null) throw new ScanError('NOT_READY', 'The state is being loaded.')
    const { offset, horizon } = head()
    if (at > offset) throw offsetNotReached(at)
    const recent = history.recent().findLast(({ point }) => point.offset === at)
    if (recent === undefined || at < horizon) throw offsetPruned(at)
    return { history, recent }
  }

  type Asked = ReturnType<typeof recentAt> & { readonly range: KeyRange; readonly id: string }
  const prove = async ({ id, range, ...state }: Asked): Promise<ProvenRange> => {
    const proven = await proveRange(context, state, range)
    provenByRange.set(id, proven)
    return proven
  }
  /** Requests that arrive at the same time share the proof of a page. */
  const proveOnce = singleFlight(prove, ({ id }) => id)

  /**
   * Ranges at a recent certifiable offset, in order, each with its proof. Every value is compared with its leaf before it
   * is returned.
   *
   * @throws {ScanError} OFFSET_PRUNED where no state is stored at the offset, OFFSET_NOT_REACHED; OVERLOADED
   *   where too many expired leaves lie in the range; STATE_DIVERGED; DEPENDENCY_UNAVAILABLE.
   */
  const proveRanges = async (at: Offset, ranges: readonly KeyRange[]) => {
    const { history, recent } = recentAt(at)
    const proving = ranges.map((range) => {
      const id = idOf(recent.point, range)
      return provenByRange.get(id) ?? proveOnce({ id, range, history, recent })
    })
    return await Promise.all(proving)
  }

  return {
    /** Recent certifiable offsets, oldest first: 60 s of record time, fewer where they take much memory. None while diverged. */
    statePoints(): readonly StatePoint[] {
      const { offset, horizon } = head()
      const points = (treeUpdater.history()?.recent() ?? []).map(({ point }) => point)
      return points.filter((point) => point.offset >= horizon && point.offset <= offset)
    },
    /** Calls the listener with each new point once, in order, after its batch is written. */
    onStatePoint(listener: (point: StatePoint) => void): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => listeners.delete(listener) }
    },
    /** Ingest calls this after each write. */
    onWritten(): void {
      for (const point of treeUpdater.history()?.takePoints(head().offset) ?? []) {
        if (point.offset <= reportedUpTo) continue
        reportedUpTo = point.offset
        for (const listener of listeners) listener(point)
      }
    },
    proveRanges,
    /**
     * A page of the activity history at a recent certifiable offset, with its proof. Every row is compared with the tree
     * before it is returned.
     *
     * @throws {ScanError} As `proveRanges`.
     */
    async proveActivities(
      at: Offset,
      { pageSize: limit, after, order }: ActivitiesPage,
    ): Promise<ProvenActivities> {
      const { recent } = recentAt(at)
      const [state, run] = await Promise.all([
        proveRanges(at, [activityTree()]),
        proveActivities(context, recent, { limit, after, order }),
      ])
      const proof = joinActivitiesProof(run.text, state.map(({ proof }) => fromUtf8(proof)).join())
      return { proof, rows: run.proven.rows }
    },
    /** The difference that was found between log and stored state; null if no difference was found since the last wipe. */
    diverged: treeUpdater.diverged,
  }
}

export type StateService = ReturnType<typeof createStateService>
/** The part that other packages use. */
export type StateReads = Omit<StateService, 'onWritten'>

/** Identifies a state and a range of it. */
function idOf({ offset, stateRoot }: StatePoint, { from, to, limit }: KeyRange): string {
  const [start, end] = [from, to].map((key) => bufferOf(key).toString('latin1'))
  return `${offset} ${stateRoot} ${limit} ${from.length} ${start}${end}`
}
