/**
 * The verified reader as one state machine (D-34 to D-39): every event changes the state and gives the
 * effects that somebody else has to carry out. It reads no clock, has no sockets and waits for nothing, so the
 * same events at the same times have the same effects.
 */

import { decide } from './decide.ts'
import { hearFailure, hearReply } from './hear.ts'
import { pump } from './lanes.ts'
import type { Effect, Event } from './messages.ts'
import { noteAddress } from './node.ts'
import { noteCompared } from './own-history.ts'
import { sendWaiting } from './send.ts'
import { finish, type State } from './state.ts'
import { takeQuestions } from './take.ts'
import { excuseStall, planTick, tick } from './tick.ts'

/** Times of the reader's clock. */
export type Now = { readonly ms: number; readonly micros: number }

/** Takes one event in and returns what is to be done, in this order. Times never go back. */
export function step(state: State, event: Event, now: Now): readonly Effect[] {
  state.nowMs = now.ms
  state.nowMicros = now.micros
  excuseStall(state)
  const handle = HANDLERS[event.kind] as (state: State, event: Event) => void // The one of its kind.
  handle(state, event)
  sendWaiting(state)
  planTick(state)
  const { effects } = state
  state.effects = []
  return effects
}

const HANDLERS: {
  readonly [Kind in Event['kind']]: (state: State, event: Event & { readonly kind: Kind }) => void
} = {
  asked(state, { questions, floor }) {
    state.floor = Math.max(state.floor, floor)
    takeQuestions(state, questions)
  },
  cancelled(state, { reads }) {
    for (const id of reads) {
      const item = state.items.get(id)
      if (item !== undefined) finish(state, item)
    }
  },
  reply: (state, { flight, reply }) => hearReply(state, flight, reply),
  failed: (state, { flight, reason }) => hearFailure(state, flight, reason),
  compared(state, { offset, historyHash }) {
    noteCompared(state, offset, historyHash)
    for (const item of state.items.values())
      if (item.rounds.at(-1)?.pin === offset) decide(state, item)
  },
  located(state, address) {
    for (const node of state.nodes) {
      if (node.name !== address.name) continue
      noteAddress(node, address)
      pump(state, node)
    }
  },
  learned(state) {
    state.isLearning = false
  },
  tick,
}
