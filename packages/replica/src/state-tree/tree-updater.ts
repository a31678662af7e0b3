/**
 * Keeps the state tree in memory equal to the stored state. It loads the tree, applies each batch before the batch is
 * written, and drops the tree once the stored state differs from it. The tree never lags the stored state. It may be ahead
 * after a write that was fenced or lost. Then the log delivers the same entries again.
 */
import { setImmediate } from 'node:timers/promises'
import { ScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import type { NameFields } from '../reads/name-reader.ts'
import type { Layout } from '../storage/layout.ts'
import type { InterpretedEntry } from '../storage/step.ts'
import type { HeadState } from '../storage/store.ts'
import { comparableState, differingLeaf, rangeOfName } from './compare-state.ts'
import { loadState, StateUnusableError } from './load-state.ts'
import {
  OtherHistoryError,
  type RecentState,
  type StateHistory,
  StateMismatchError,
} from './state-history.ts'

/** A difference between the log and the stored state. */
export type StateDivergence = {
  /** The newest state point at which they were compared. */
  readonly offset: Offset
  /** A sentence for the operator: what differs. */
  readonly what: string
}

/** Contracts that are applied at a stretch, then lookups are served: some 10 ms. */
const STRETCH_CONTRACTS = 200

export function createStateTreeUpdater(context: {
  readonly genesis: Genesis
  readonly layout: Layout
  readonly onProblem: (error: Error) => void
}) {
  let history: StateHistory | null = null
  let diverged: StateDivergence | null = null

  /** Drops the tree: the stored state differs from the log. Every write marks the replica so until a wipe. */
  const diverge = (divergence: StateDivergence, cause?: unknown): void => {
    history = null
    // Only the first divergence is reported. Later ones may be its consequence.
    if (diverged !== null) return
    diverged = divergence
    context.onProblem(stateDiverged(divergence, cause))
  }

  /**
   * Compares data that was read together with a head with the newest recent state at that head. `difference` returns what
   * differs. It throws if the data is malformed.
   */
  const compare = (
    head: Uint8Array | null | undefined,
    difference: (history: StateHistory, recent: RecentState) => string | null,
  ): void => {
    const recent = history === null || head == null ? undefined : comparableState(history, head)
    if (history === null || recent === undefined) return
    const { offset } = recent.point
    try {
      const what = difference(history, recent)
      if (what !== null) diverge({ offset, what })
    } catch (error) {
      diverge({ offset, what: 'A part of it cannot be read.' }, error)
    }
  }

  return {
    /** Null while the tree is being loaded, and after a divergence. */
    history: (): StateHistory | null => history,
    diverged: (): StateDivergence | null => diverged,
    diverge,
    compare,
    /** As `compare`, for fields of the hash of names. */
    compareNames({ head, byName }: NameFields): void {
      compare(head, (of, recent) => {
        for (const [name, value] of byName) {
          const stored = { range: rangeOfName(name), values: new Map([[name, value]]) }
          const difference = differingLeaf(of, recent, stored)
          if (difference !== null) return difference
        }
        return null
      })
    },
    /** Sets the tree of the state that is about to be stored. */
    adopt(loaded: StateHistory): void {
      history = loaded
      diverged = null
    },
    /** Loads the tree of the stored state unless it is loaded. False if the stored state changed during the load: load it again. */
    async ensureLoaded(redis: Redis, headState: HeadState): Promise<boolean> {
      if (history !== null && isOfHistory(history, headState)) return true
      history = null
      try {
        history = await loadState(redis, headState, context)
        if (history !== null) diverged = null
        return history !== null
      } catch (error) {
        if (!(error instanceof StateUnusableError)) throw error
        diverge({ offset: headState.head.state.offset, what: error.message }, error.cause)
        return true
      }
    },
    /**
     * Applies the entries that are about to be written, and returns the mark to write with them. Null if the tree has another
     * history: the stored state must be loaded again.
     */
    async apply(entries: readonly InterpretedEntry[], { head }: HeadState) {
      try {
        let contracts = 0
        for (const entry of entries) {
          // A concurrent read may have found a divergence.
          if (history === null) break
          history.apply(entry, entry.result.kind === 'checkpoint')
          contracts += entry.delta.created.length + entry.delta.archived.length
          if (contracts < STRETCH_CONTRACTS) continue
          contracts = 0
          await setImmediate()
        }
      } catch (error) {
        if (error instanceof OtherHistoryError) {
          history = null
          return null
        }
        if (!(error instanceof StateMismatchError)) throw error
        const what = `In the stored state, ${error.message}.`
        diverge({ offset: head.state.offset, what }, error)
      }
      if (history === null) return { ...head.state, root: null }
      const last = entries.at(-1)?.offset ?? head.offset
      const newest = history.recent().findLast(({ point }) => point.offset <= last)
      return newest === undefined
        ? head.state
        : {
            offset: newest.point.offset,
            root: newest.point.stateRoot,
            activityCount: newest.activities.size,
          }
    },
  }
}

export type StateTreeUpdater = ReturnType<typeof createStateTreeUpdater>

/** The sentence for a name whose stored entry has another value than its leaf. */
export function differs(name: string): string {
  return `The entries of ${name} differ.`
}

export function stateDiverged(divergence: StateDivergence, cause?: unknown): ScanError {
  const { offset, what } = divergence
  const message = `The stored state of this replica differs from the log. ${what} Wipe the replica (\`quorumscan replica wipe\`, of a local cluster \`quorumscan wipe\`): it is rebuilt from the log.`
  const options = cause === undefined ? {} : { cause }
  return new ScanError('STATE_DIVERGED', message, { details: { offset }, ...options })
}

/** The tree may be ahead of the head. Its recent states show whether it has the same history. */
function isOfHistory(history: StateHistory, { head, timeline }: HeadState): boolean {
  const applied = history.appliedUpTo()
  if (applied.offset <= head.offset)
    return applied.offset === head.offset && applied.historyHash === head.historyHash
  const newest = history.recent().findLast(({ point }) => point.offset <= head.offset)
  return (
    newest !== undefined &&
    timeline.at(newest.point.offset)?.historyHash === newest.point.historyHash
  )
}
