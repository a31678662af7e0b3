/**
 * Drives the state machine by commands, as sockets and a clock would, and checks its rules at each step. At most f nodes lie; the others answer truthfully, or fail.
 */
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
  lanesOf,
  openItems,
  type ReaderEvent,
  type ReadTarget,
  type Sent,
} from '../state.ts'
import { step } from '../step.ts'
import { type Command, LIES, type Way } from './scripts.ts'
import { answerAt, historyAt, replyTo } from './world.ts'

/** After this time without an answer, a read and its requests have ended. */
export const ENDED_MS = 4050
/** Long enough that requests that may be lost are sent again. */
const WAIT_MS = 4000
const NAMES = ['a', 'b', 'c'] as const
/** Requests in flight to one node: in each second 4 lookups and 8 pages, each for as long as the reader waits. */
const FLIGHTS_PER_NODE_MAX = (4 + 8) * (WAIT_MS / 1000 + 1)

type Waiting = { readonly wanted: CallInput; readonly atMs: number; readonly floor: number }

export function createRun(world: {
  readonly nodeCount: number
  readonly liars: readonly number[]
}) {
  const { nodeCount } = world
  const faultyMax = maxFaulty(nodeCount)
  const liars = world.liars.filter((index) => index < nodeCount).slice(0, faultyMax)
  const nodes = Array.from({ length: nodeCount }, (_, index) => createNode(`sv-${index}`, index))
  const state = createState({
    nodes,
    nodeCount,
    faultyMax,
    trust: null,
    waitMs: WAIT_MS,
    hasReplica: true,
    random: createRandom(),
  })
  const log: unknown[] = []
  const waiting = new Map<number, Waiting>()
  const comparing: number[] = []
  const said = new Set<string>()
  let head = 5
  let moveCount = 0
  let readCount = 0
  let floor = 0

  const driven = createVirtual<Sent, TransportReply, CallInput, CallOutcome, Fact, ReaderEvent>({
    context: state,
    step: (event) => step(state, event),
    onEffect(effect) {
      if (effect.kind === 'note') {
        log.push(effect.fact)
        must(effect.fact.kind !== 'fork', 'there is one history')
        if (effect.fact.kind === 'compare') comparing.push(effect.fact.offset)
      } else if (effect.kind === 'done') {
        log.push(effect)
        judge(effect.read, effect.outcome)
      } else log.push([effect.kind, effect.flight.source.url, effect.flight.sentAtMs])
    },
  })
  const { open } = driven

  const happen = (run: () => void): void => {
    run()
    must(state.floor >= floor, 'the floor only rises')
    floor = state.floor
    hold()
  }

  /** A decision belongs to a waiting read, is true and recent enough, and enough nodes gave it. */
  const judge = (read: number, ended: CallOutcome): void => {
    const asked = waiting.get(read)
    must(waiting.delete(read), 'what is decided is waited for')
    if (asked === undefined || ended instanceof Error) return
    const { wanted } = asked
    must(ended.length === wanted.asked.length, 'each has an outcome')
    for (const [index, outcome] of ended.entries()) {
      if (!('answer' in outcome)) continue
      const name = nameOf(wanted.asked[index] as ReadTarget)
      const { offset } = outcome
      const answer = new TextDecoder().decode(outcome.answer)
      must(answer === answerAt(name, offset), 'what is decided is true')
      must(outcome.historyHash === historyAt(offset), 'and of the one history')
      must(offset >= Math.max(wanted.minOffset, asked.floor), 'and not older than asked')
      must(new Set(outcome.agreed).size >= wanted.threshold, 'enough nodes agree')
      for (const node of outcome.agreed)
        must(said.has(`${node} ${offset} ${name} ${answer}`), 'and have answered so')
    }
  }

  /** No read waits too long, no node gets too many requests, and the decider is woken while a caller waits. */
  const hold = (): void => {
    for (const { atMs } of waiting.values())
      must(driven.nowMs() - atMs <= ENDED_MS, 'a read ends in its time')
    must(
      Object.keys(state.calls).length === waiting.size,
      'what is waited for is what is not decided',
    )
    must(state.itemCount === openItems(state).length, 'all items are counted')
    must(state.itemCount === 0 ? waiting.size === 0 : waiting.size > 0, 'as are its items')
    for (const { call, rounds } of openItems(state))
      must(waiting.has(call.id) && rounds.length <= 2, 'a read has two rounds at most')
    const flights = state.sources.flatMap((source) => [...source.flights])
    must(flights.length === open.size, 'what is sent is what is not ended')
    for (const node of nodes) {
      const flightCount = lanesOf(node).reduce((sum, lane) => sum + lane.flights.length, 0)
      must(flightCount <= FLIGHTS_PER_NODE_MAX, 'a node is asked so much at a time')
      must(
        liars.includes(node.index) || node.counters.dissents === 0,
        'a truthful node is not outvoted',
      )
    }
    must(
      state.wakeAtMs < Infinity === waiting.size > 0,
      'the decider is woken while there is cause',
    )
  }

  const pass = (ms: number): void => happen(() => driven.pass(ms))

  const answer = (flight: Sent | undefined, way: Way): void => {
    if (flight === undefined) return
    const { index } = flight.source.node
    const isLie = LIES.some((lie) => lie === way)
    const answered = replyTo(requestOf(flight.spec), {
      way: isLie && !liars.includes(index) ? 'true' : way,
      head,
    })
    for (const { name, offset, answer } of answered?.said ?? [])
      said.add(`sv-${index} ${offset} ${name} ${answer}`)
    happen(() => (answered === null ? driven.fail(flight) : driven.answer(flight, answered.reply)))
  }

  const ask = ({ names, votes, ahead, isPage }: Command & { kind: 'ask' }): void => {
    const wanted: CallInput = {
      asked: names
        .slice(0, isPage ? 1 : names.length)
        .map((index) => askedOf(NAMES[index] as string, isPage)), // There are so many.
      threshold: faultyMax + 1 + (votes % (nodeCount - faultyMax)),
      minOffset: ahead === null ? 0 : head + ahead,
      maxAgeMs: Number.POSITIVE_INFINITY,
      headers: undefined,
    }
    happen(() => {
      // As the driver numbers them.
      waiting.set(++readCount, { wanted, atMs: driven.nowMs(), floor })
      driven.begin(wanted, WAIT_MS)
    })
  }

  const compare = (): void => {
    const offset = comparing.shift()
    if (offset === undefined) return
    const historyHash = offset <= head ? historyAt(offset) : null
    happen(() => driven.report({ kind: 'compared', offset, historyHash }))
  }

  const cancel = (id: number | undefined): void => {
    if (id === undefined) return
    waiting.delete(id)
    happen(() => driven.leave(id))
  }

  const move = (index: number): void => {
    const url = `http://127.0.0.1:${10 * ++moveCount + index}`
    const address = { name: `sv-${index}`, url, sequence: moveCount }
    happen(() => driven.report({ kind: 'located', ...address }))
  }

  const obey = (command: Command): void => {
    if (command.kind === 'ask') ask(command)
    else if (command.kind === 'land') answer(pickOf(open, command.pick), command.way)
    else if (command.kind === 'pass') pass(command.ms)
    else if (command.kind === 'append') head++
    else if (command.kind === 'compare') compare()
    else if (command.kind === 'cancel') cancel(pickOf(waiting.keys(), command.pick))
    else if (command.kind === 'move') move(command.pick % nodeCount)
  }

  for (const { index } of nodes) move(index)
  happen(() => driven.report({ kind: 'learned' }))
  return { obey, pass, log, waiting, open }
}

/** A fixed sequence that looks random. */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 0x7fff_ffff
    return state / 0x7fff_ffff
  }
}

/** An `expect` would take longer than the step. */
function must(holds: boolean, rule: string): void {
  if (!holds) throw new Error(`broken: ${rule}`)
}

function pickOf<T>(some: Iterable<T>, pick: number): T | undefined {
  const all = [...some]
  return all[pick % Math.max(all.length, 1)]
}

function askedOf(name: string, isPage: boolean): ReadTarget {
  if (!isPage) return { kind: 'lookup', lookup: { name } }
  const page = { operation: 'page', parameters: { name }, bytesMax: 1024 }
  return { kind: 'read', request: { ...page, method: 'GET', path: `/${name}`, body: null } }
}

function nameOf(asked: ReadTarget): string {
  return asked.kind === 'read'
    ? asked.request.path.slice(1)
    : (asked.lookup as { readonly name: string }).name // Nothing here asks by party.
}
