/** All that the reader's state machine knows. Changed by the functions of this folder only, within a step. */

import type { HistoryPoint } from '@quorumscan/verifier'
import { maxFaulty } from '@quorumscan/verifier'
import type { Decisions } from '../votes/decisions.ts'
import { type Histories, noteHistory } from '../votes/histories.ts'
import type { Item } from './item.ts'
import type { Effect } from './messages.ts'
import type { Flight, Node } from './node.ts'

export type Config = {
  /** n of the genesis. */
  readonly nodeCount: number
  /** How long a read may wait (D-38). */
  readonly waitMs: number
  readonly decisions: Decisions
  /** Whether there is an own replica to compare with. */
  readonly hasReplica: boolean
}

export type State = Config & {
  readonly faultyMax: number
  /** One for each connection: more than n only where a test breaks that decision. */
  readonly nodes: readonly Node[]
  readonly histories: Histories
  /** By offset. */
  readonly ownHistory: Map<number, Comparison>
  /** Lowest offset to read at: the highest verified pin (D-39). */
  floor: number
  /** By the clock, at this step. */
  nowMs: number
  nowMicros: number
  /** When the next tick is due; Infinity while nothing waits. */
  tickAtMs: number
  /** Whether addresses may still come. */
  isLearning: boolean
  /** When a node was last asked anything. */
  askedAtMs: number
  /** When a read last ended. */
  finishedAtMs: number
  /** Heads told before no longer suffice for a first pin. */
  headsSinceMs: number
  /** Reads that somebody waits for, by id. */
  readonly items: Map<number, Item>
  /** Of the answers that one node may send to all pages and activities among them. */
  readBytesMax: number
  readonly unsent: Unsent
  flightCount: number
  readonly flights: Map<number, Flight>
  /** Of this step. */
  effects: Effect[]
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

export function createState(
  config: Config & { readonly nodes: readonly Node[]; readonly histories: Histories },
): State {
  return {
    nodeCount: config.nodeCount,
    waitMs: config.waitMs,
    decisions: config.decisions,
    hasReplica: config.hasReplica,
    nodes: config.nodes,
    histories: config.histories,
    faultyMax: maxFaulty(config.nodeCount),
    ownHistory: new Map(),
    floor: 0,
    nowMs: 0,
    nowMicros: 0,
    tickAtMs: Number.POSITIVE_INFINITY,
    isLearning: true,
    askedAtMs: Number.NEGATIVE_INFINITY,
    finishedAtMs: Number.NEGATIVE_INFINITY,
    headsSinceMs: 0,
    items: new Map(),
    readBytesMax: 0,
    unsent: { reads: [], lookupsByKind: new Map(), floored: [] },
    flightCount: 0,
    flights: new Map(),
    effects: [],
  }
}

/** Lets the next tick come no later. */
export function tickWithin(state: State, ms: number): void {
  state.tickAtMs = Math.min(state.tickAtMs, state.nowMs + ms)
}

/** The most bytes that a node may answer to the item; lookups are bounded by their number. */
export function bytesMaxOf({ asked }: Pick<Item, 'asked'>): number {
  return asked.kind === 'read' ? asked.request.bytesMax : 0
}

/** From here on nothing is decided about the item. */
export function finish(state: State, item: Item): void {
  item.isDone = true
  state.finishedAtMs = state.nowMs
  if (state.items.delete(item.id)) state.readBytesMax -= bytesMaxOf(item)
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
  if (fork !== null) state.effects.push({ kind: 'fork', fork })
}
