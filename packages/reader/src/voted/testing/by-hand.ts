/** Drives the state machine with requests that a test answers one by one. */
import { maxFaulty } from '@quorumscan/verifier'
import { createVirtual } from '../../driver/testing/virtual.ts'
import type { TransportReply } from '../../source/transport.ts'
import { requestOf } from '../ask.ts'
import {
  type CallInput,
  type CallOutcome,
  createNode,
  createState,
  type Fact,
  type ReaderEvent,
  type Sent,
} from '../state.ts'
import { step } from '../step.ts'
import type { Way } from './scripts.ts'
import { replyTo } from './world.ts'

/** As the scan proxy (D-38). */
export const WAIT_MS = 2000

/** Nodes in the order of the genesis, which is the order of asking where nothing is known against them. */
export function createByHand(heads: readonly number[], random: () => number = () => 0) {
  const nodes = heads.map((_, index) => createNode(`sv-${index}`, index))
  const state = createState({
    nodes,
    nodeCount: nodes.length,
    faultyMax: maxFaulty(nodes.length),
    trust: null,
    waitMs: WAIT_MS,
    hasReplica: false,
    random,
  })
  const outcomes = new Map<number, CallOutcome>()
  const driven = createVirtual<Sent, TransportReply, CallInput, CallOutcome, Fact, ReaderEvent>({
    context: state,
    step: (event) => step(state, event),
    onEffect: (effect) => {
      if (effect.kind === 'done') outcomes.set(effect.read, effect.outcome)
    },
  })
  let readCount = 0

  const move = (index: number, url: string): void =>
    driven.report({ kind: 'located', name: `sv-${index}`, url, sequence: 1 })
  const flightsTo = (...indices: readonly number[]): Sent[] =>
    [...driven.open].filter(({ source }) => indices.includes(source.node.index))
  const answer = (flights: readonly Sent[], way: Way = 'true'): void => {
    for (const flight of flights) {
      const head = heads[flight.source.node.index] as number
      const answered = replyTo(requestOf(flight.spec), { way, head })
      if (answered === null) driven.fail(flight)
      else driven.answer(flight, answered.reply)
    }
  }

  for (const index of nodes.keys()) move(index, `http://127.0.0.1:${index + 1}`)
  driven.report({ kind: 'learned' })
  return {
    state,
    outcomes,
    move,
    flightsTo,
    answer,
    pass: driven.pass,
    open: driven.open,
    /** Begins calls of one moment. Returns their ids. */
    ask(...wanted: readonly (Partial<CallInput> & { readonly page?: string })[]): number[] {
      const reads = wanted.map(({ page, ...input }) => {
        const id = ++readCount
        driven.waiting.set(id, driven.nowMs() + WAIT_MS)
        const request = { operation: 'page', parameters: {}, bytesMax: 1024, body: null } as const
        const asked: CallInput['asked'] =
          page === undefined
            ? [{ kind: 'lookup', lookup: { name: 'a' } }]
            : [{ kind: 'read', request: { ...request, method: 'GET', path: `/${page}` } }]
        const rest = { threshold: 2, minOffset: 0, maxAgeMs: Infinity, headers: undefined }
        return { id, input: { asked, ...rest, ...input } }
      })
      driven.report({ kind: 'began', reads })
      return reads.map(({ id }) => id)
    },
  }
}
