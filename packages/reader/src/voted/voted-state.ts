/** State, events and facts of the decider of votes. Only functions of this folder change the state, within a step. */

import type { HistoryPoint, TrustRule } from '@quorumscan/verifier'
import { type ByRead, type DeciderContext, type Event, NEVER } from '../driver/decider-protocol.ts'
import type { NodeReply } from '../reader-options.ts'
import type { Address } from '../source/address-book.ts'
import type { TransportReply } from '../source/transport.ts'
import { createHistories, type Fork, type Histories, noteHistory } from '../votes/histories.ts'
import type { Call, CallInput, CallOutcome, Item } from './item.ts'
import { lanesOf, type Node, type Sent } from './node.ts'

export type ReaderEvent =
  | Event<Sent, TransportReply, CallInput>
  /** The local replica's history at an offset; null if it has none. */
  | { readonly kind: 'compared'; readonly offset: number; readonly historyHash: string | null }
  /** A node has another address. */
  | ({ readonly kind: 'located' } & Address)
  /** All sources of addresses have answered once or failed. */
  | { readonly kind: 'learned' }

export type Fact =
  /** The local replica's history at the offset is wanted, as `compared`. */
  | { readonly kind: 'compare'; readonly offset: number }
  /** Addresses may be refreshed; urgent if nodes do not answer. */
  | { readonly kind: 'learn'; readonly isUrgent: boolean }
  | { readonly kind: 'fork'; readonly fork: Fork }
  /** How a request ended, for measurements. */
  | NodeReply

export type State = DeciderContext<Sent, CallOutcome, Fact> & {
  /** n of the genesis, or the number of members of the trust rule. */
  readonly nodeCount: number
  /** How many of them may lie. */
  readonly faultyMax: number
  readonly trust: TrustRule | null
  /** How long a read may wait (D-38). */
  readonly waitMs: number
  /** Whether a local replica exists to compare with. */
  readonly hasReplica: boolean
  /** Each once, so that it votes once (D-34). */
  readonly nodes: readonly Node[]
  readonly histories: Histories
  /** By offset. */
  readonly ownHistory: Map<number, Comparison>
  /** Lowest offset to read at: the highest verified pin (D-39). */
  floor: number
  /** Whether addresses may still come. */
  isLearning: boolean
  /** When a node was last asked anything. */
  askedAtMs: number
  /** When a read last ended. */
  finishedAtMs: number
  /** Heads reported before this time no longer suffice for a first pin. */
  headsSinceMs: number
  /** Calls that wait, by the read id of the driver. */
  readonly calls: ByRead<Call>
  /** Items of these calls that are not done. */
  itemCount: number
  /** Sum of the largest answers of one node to the pages and activities among the items. */
  readBytesMax: number
  readonly unsent: Unsent
}

/** What the local replica was asked about an offset. */
export type Comparison = {
  isKnown: boolean
  isAsking: boolean
  tries: number
  askedAtMs: number
}

/** Items that wait to be sent: for a pin, or for room at enough nodes. */
export type Unsent = {
  reads: Item[]
  /** Lookups with the same pin and threshold, which are tried together. */
  readonly lookupsByKind: Record<string, Item[]>
  /** Items whose `minOffset` no pin had reached. */
  belowMinOffset: Item[]
}

export function createState(
  config: Pick<State, 'nodeCount' | 'faultyMax' | 'trust' | 'waitMs' | 'hasReplica' | 'nodes'>,
): State {
  const { faultyMax } = config
  const never = Number.NEGATIVE_INFINITY
  // Field by field: V8 reads objects made by spread more slowly.
  return {
    effects: [],
    sources: config.nodes.flatMap(lanesOf),
    nowMs: 0,
    nowMicros: 0,
    clockSkewMs: null,
    deviceMicros: 0,
    monotonicMs: 0,
    provenMicros: never,
    provenAtMs: 0,
    wakeAtMs: NEVER,
    nodeCount: config.nodeCount,
    waitMs: config.waitMs,
    hasReplica: config.hasReplica,
    nodes: config.nodes,
    faultyMax,
    trust: config.trust,
    histories: createHistories(faultyMax),
    ownHistory: new Map(),
    floor: 0,
    isLearning: true,
    askedAtMs: never,
    finishedAtMs: never,
    headsSinceMs: 0,
    calls: {},
    itemCount: 0,
    readBytesMax: 0,
    unsent: { reads: [], lookupsByKind: {}, belowMinOffset: [] },
  }
}

export function note({ effects }: State, fact: Fact): void {
  effects.push({ kind: 'note', fact })
}

/** The most bytes that a node may answer to the item; lookups are bounded by their number. */
export function bytesMaxOf({ asked }: Pick<Item, 'asked'>): number {
  return asked.kind === 'read' ? asked.request.bytesMax : 0
}

/** Items that are not done. */
export function openItems({ calls }: State): Item[] {
  return Object.values(calls).flatMap(({ items }) => items.filter(({ isDone }) => !isDone))
}

/** Ends the item. */
export function finish(state: State, item: Item): void {
  if (item.isDone) return
  item.isDone = true
  state.finishedAtMs = state.nowMs
  state.itemCount--
  state.readBytesMax -= bytesMaxOf(item)
}

/** Queues the item, to be sent at the end of the step. */
export function wait({ unsent }: State, item: Item): void {
  if (item.asked.kind === 'read') {
    unsent.reads.push(item)
    return
  }
  const kind = `${item.nextPin} ${item.threshold}`
  const alike = unsent.lookupsByKind[kind]
  if (alike === undefined) unsent.lookupsByKind[kind] = [item]
  else alike.push(item)
}

/** Notes the history that a valid answer shows; `holder` null: the local replica. */
export function notePoint(
  state: State,
  holder: string | null,
  point: Pick<HistoryPoint, 'offset' | 'historyHash'>,
): void {
  const fork = noteHistory(state.histories, holder, point)
  if (fork !== null) note(state, { kind: 'fork', fork })
}
