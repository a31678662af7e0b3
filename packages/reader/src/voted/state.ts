/** All that the decider of votes knows, hears and notes. Changed by the functions of this folder only, within a step. */

import type { HistoryPoint } from '@quorumscan/verifier'
import { maxFaulty } from '@quorumscan/verifier'
import { createWorld, type Event, type World } from '../driver/decider.ts'
import type { NodeReply } from '../reader-options.ts'
import type { Address } from '../source/address-book.ts'
import type { TransportReply } from '../source/transport.ts'
import type { Decisions } from '../votes/decisions.ts'
import { createHistories, type Fork, type Histories, noteHistory } from '../votes/histories.ts'
import type { Call, Ended, Item, Wanted } from './item.ts'
import { lanesOf, type Node, type Sent } from './node.ts'

export type ReaderEvent =
  | Event<Sent, TransportReply, Wanted>
  /** The own replica's history at an offset; null where it has none. */
  | { readonly kind: 'compared'; readonly offset: number; readonly historyHash: string | null }
  /** A node is somewhere else than it was. */
  | ({ readonly kind: 'located' } & Address)
  /** All that could tell addresses at first have done so. */
  | { readonly kind: 'learned' }

export type Fact =
  /** The own replica's history at the offset is wanted, as `compared`. */
  | { readonly kind: 'compare'; readonly offset: number }
  /** Addresses may be asked for; uneasy, as some do not answer. */
  | { readonly kind: 'learn'; readonly isUneasy: boolean }
  | { readonly kind: 'fork'; readonly fork: Fork }
  /** How a request ended, for measurements. */
  | NodeReply

export type Config = {
  /** n of the genesis. */
  readonly nodeCount: number
  /** How long a read may wait (D-38). */
  readonly waitMs: number
  readonly decisions: Decisions
  /** Whether there is an own replica to compare with. */
  readonly hasReplica: boolean
  /** One for each connection: more than n only where a test breaks that decision. */
  readonly nodes: readonly Node[]
}

export type State = World<Sent, Ended, Fact> &
  Config & {
    readonly faultyMax: number
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
    /** Heads told before no longer suffice for a first pin. */
    headsSinceMs: number
    /** Those that a caller waits for, by the read that the driver knows. */
    readonly calls: Map<number, Call>
    /** Of these calls, those that are not decided. */
    readonly items: Set<Item>
    /** Of the answers that one node may send to all pages and activities among them. */
    readBytesMax: number
    readonly unsent: Unsent
  }

/** What the own replica was asked about an offset. */
export type Comparison = {
  isKnown: boolean
  isAsking: boolean
  tries: number
  askedAtMs: number
}

/** Items that wait to be sent: for a pin, or for room at enough nodes. */
export type Unsent = {
  reads: Item[]
  /** Those alike in what decides pin and room, which are tried once for all. */
  readonly lookupsByKind: Map<string, Item[]>
  /** Those whose `minOffset` no pin reached when they were tried. */
  floored: Item[]
}

export function createState(config: Config): State {
  const faultyMax = maxFaulty(config.nodeCount)
  const never = Number.NEGATIVE_INFINITY
  // Field by field: objects of spread others are slower to look into.
  const { effects, sources, nowMs, nowMicros, wakeAtMs } = createWorld<Sent, Ended, Fact>(
    config.nodes.flatMap(lanesOf),
  )
  return {
    effects,
    sources,
    nowMs,
    nowMicros,
    wakeAtMs,
    nodeCount: config.nodeCount,
    waitMs: config.waitMs,
    decisions: config.decisions,
    hasReplica: config.hasReplica,
    nodes: config.nodes,
    faultyMax,
    histories: createHistories(faultyMax),
    ownHistory: new Map(),
    floor: 0,
    isLearning: true,
    askedAtMs: never,
    finishedAtMs: never,
    headsSinceMs: 0,
    calls: new Map(),
    items: new Set(),
    readBytesMax: 0,
    unsent: { reads: [], lookupsByKind: new Map(), floored: [] },
  }
}

export function note({ effects }: State, fact: Fact): void {
  effects.push({ kind: 'note', fact })
}

/** The most bytes that a node may answer to the item; lookups are bounded by their number. */
export function bytesMaxOf({ asked }: Pick<Item, 'asked'>): number {
  return asked.kind === 'read' ? asked.request.bytesMax : 0
}

/** From here on nothing is decided about the item. */
export function finish(state: State, item: Item): void {
  item.isDone = true
  state.finishedAtMs = state.nowMs
  if (state.items.delete(item)) state.readBytesMax -= bytesMaxOf(item)
}

/** Puts the item among those that are sent at the end of the step. */
export function wait({ unsent }: State, item: Item): void {
  if (item.asked.kind === 'read') {
    unsent.reads.push(item)
    return
  }
  const kind = `${item.nextPin} ${item.threshold}`
  const alike = unsent.lookupsByKind.get(kind)
  if (alike === undefined) unsent.lookupsByKind.set(kind, [item])
  else alike.push(item)
}

/** Notes whose history a valid answer tells; null stands for the own replica. */
export function notePoint(
  state: State,
  holder: string | null,
  point: Pick<HistoryPoint, 'offset' | 'historyHash'>,
): void {
  const fork = noteHistory(state.histories, holder, point)
  if (fork !== null) note(state, { kind: 'fork', fork })
}
