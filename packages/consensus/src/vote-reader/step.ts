/**
 * The verified reader as one state machine (D-34 to D-39): every event changes the state and gives the
 * effects that somebody else has to carry out. It reads no clock, has no sockets and waits for nothing, so the
 * same events at the same times have the same effects.
 */

import { decide } from './decide.ts'
import { hearChecked, hearFailure, hearReply } from './hear.ts'
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
  handle(state, event)
  sendWaiting(state)
  planTick(state)
  const { effects } = state
  state.effects = []
  return effects
}

function handle(state: State, event: Event): void {
  switch (event.kind) {
    case 'asked':
      state.floor = Math.max(state.floor, event.floor)
      takeQuestions(state, event.questions)
      break
    case 'cancelled':
      cancel(state, event.reads)
      break
    case 'reply':
      hearReply(state, event.flight, event.reply)
      break
    case 'failed':
      hearFailure(state, event.flight)
      break
    case 'checked':
      hearChecked(state, event.flight, event.isValid)
      break
    case 'compared':
      compare(state, event.offset, event.historyHash)
      break
    case 'located':
      locate(state, event)
      break
    case 'learned':
      state.isLearning = false
      break
    case 'tick':
      tick(state)
      break
  }
}

function cancel(state: State, reads: readonly number[]): void {
  for (const id of reads) {
    const item = state.items.get(id)
    if (item !== undefined) finish(state, item)
  }
}

function compare(state: State, offset: number, historyHash: string | null): void {
  noteCompared(state, offset, historyHash)
  for (const item of state.items.values())
    if (item.rounds.at(-1)?.pin === offset) decide(state, item)
}

function locate(state: State, address: Event & { readonly kind: 'located' }): void {
  for (const node of state.nodes) {
    if (node.name !== address.name) continue
    noteAddress(node, address)
    pump(state, node)
  }
}
